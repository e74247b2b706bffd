"""The book to carry away, made from the built site: a folder for the disk (offline), a PDF (pdf), an EPUB (epub).

`articles` takes the text out of the pages for the last two. None of them builds the site; `make site` does.
"""
