"""The walls round a student's process, that process, and what passes between it and the grader as plain data.

Not here: what is asked of the process, and what it is worth; that is `grading`.
"""
