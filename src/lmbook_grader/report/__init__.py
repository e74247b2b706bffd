"""What is made of results: their files, scores as CSV, feedback, the sheet for written answers, lines on a terminal.

Not here: anything that changes a mark.
"""
