"""Returned files: whose each is, what counts, and which cell answers which question. Nothing here runs a cell."""
