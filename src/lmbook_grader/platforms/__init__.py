"""Other places that grade the same homework with the same points: Gradescope's autograder, a matrix of GitHub Actions."""
