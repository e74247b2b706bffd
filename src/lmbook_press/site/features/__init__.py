"""The book's own additions to its site.

mathematics   formulae rendered with KaTeX while the site is built; a faulty one is a warning
code          long lines of code that wrap
selfcheck     the self-check questions
predict       answers folded below the questions "Predict first"
folding       solutions and dropdowns as <details>, titles of exercises
citations     (Author, year) in round brackets
numbered      "Figure 9.2" in the text leads to the drawing
results       the tables of recorded runs
chapters      links between chapter and homework, how to cite, descriptions
machines      llms.txt: the pages by part, for programs that read them
landing       the first page: a GPT at work, the line of chapters
status        when each page was changed, each chapter executed
heights       room for figures before they are alive, and for sections before they are drawn
states        links that set a figure
search        abbreviations, and the order of what is found
pages         what a page loads, and its number
assets        figures and downloads; the files of other packages made light after the build
fonts         fonts of icons and formulae, cut to what the pages draw with them
joined        the stylesheets of a page as one file, its scripts as two
"""
