"""A homework's versions from its master: what the class gets, what the grader gets, and what a secret draws.

Not here: anything that runs or reads a student's answer; that is `lmbook_grader`.
"""
