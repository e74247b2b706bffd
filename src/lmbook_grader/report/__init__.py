"""Results and all that is made of them: files, scores as CSV, feedback, the sheet for written answers, terminal output.

Not here: anything that changes a mark.
"""
