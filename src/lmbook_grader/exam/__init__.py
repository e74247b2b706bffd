"""Written exams: a bank of questions with solutions, and papers drawn from it.

    question      what a question is, and how its numbers get into its text
    chapter_NN    the questions of one chapter, each a function that draws its numbers and computes the answer
    bank          all of them by chapter and by name
    paper         which questions a paper asks, and the versions of it
    sheets        a paper, and its solutions with the marking scheme, as pages that print

Not here: homework, which is graded by program (`grading`), and the marks that people give for it (`report`).
"""
