"""What a course has on paper: a bank of questions with solutions, and papers drawn from it.

    question      a question as a function, and how its numbers get into its text
    questions     the bank: a file for each chapter, a function for each question
    bank          all of them by chapter and by name
    paper         which questions a paper asks, and its versions
    recall        questions that come again: the page Today and the Anki deck
    sheets        a paper, and its solutions with the marking scheme, as pages that print
    plan          the plan of a course, with a run sheet for each meeting
    cli           the commands `lmbook exam`, `lmbook plan`

Not here: homework, which a program grades (`lmbook_grader`).
"""
