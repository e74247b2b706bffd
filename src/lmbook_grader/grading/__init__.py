"""From a placed submission to a result: visible run, hidden checks, a class at once, parts merged.

Not here: how a process is walled off (`sandbox`), or how a result is shown (`report`).
"""
