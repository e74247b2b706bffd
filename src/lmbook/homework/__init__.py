"""Homework: the student version and the grading master are made here from one nbgrader notebook."""
