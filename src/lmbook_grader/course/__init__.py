"""The course as a whole: its rules (`course.toml`), what is late, one gradebook of all homeworks.

Not here: how one homework is graded (`grading`) and shown to its students (`report`).
"""
