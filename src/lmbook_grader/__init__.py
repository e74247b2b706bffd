"""How homework is graded: from a folder of returned files to marks and feedback.

    intake      whose each file is, and which cell is which answer
    sandbox     the walls, the student's process behind them, and what may pass between
    grading     one submission, and a class of them
    report      results, scores for a learning system, feedback, the sheet of written answers

Also here: the commands (`cli`) and a student's own check before handing in (`self_check`). Not here: the questions
themselves and how a homework is made (`lmbook_press.assignments`), and written exams (`lmbook_exams`).
"""
