"""Fetches the files of Python for the page: `python -m lmbook_press.site.python`. It never stops a build."""

from lmbook_press.site.python.files import fetch

fetch()
