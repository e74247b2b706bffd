"""What runs inside a page's Python and nowhere else: it is packed into kernel.zip, whose top is on the path there.

page_kernel      runs cells and says what they put out
rich_output      what a value looks like
IPython, anywidget, platformdirs, tqdm      small stand-ins for packages that need a server, a disk or a terminal
"""
