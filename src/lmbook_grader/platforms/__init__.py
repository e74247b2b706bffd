"""Other places that grade a homework, with the same points: Gradescope's autograder, a matrix of GitHub Actions."""
