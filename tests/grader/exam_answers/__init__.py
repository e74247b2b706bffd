"""Answers of exam questions, computed another way: by torch, by the book's own functions, or by trying all cases.

A function here has the name of its question, takes the numbers that it drew, and asserts that the answers among them
are right.
"""
