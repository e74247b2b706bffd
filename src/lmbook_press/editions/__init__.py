"""The other editions of a chapter, besides its page on the site.

colab         the notebook that installs lmbook by itself, with plain Markdown, without solutions
slides        one page for a lecture: slide.py, what a slide is; stage.py, what it stands on
offline       the built site as a zip for the disk
pdf, epub     the whole book on paper and for reading apps, from the text of the built pages (`articles`)
"""
