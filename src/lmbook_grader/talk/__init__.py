"""Talk sheets: three questions to each student about their own code, with answers found by tracing it behind the walls.

Not here: points.  What a talk changes is written into marks.csv by a person.
"""
