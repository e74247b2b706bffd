"""A hint of copies for a person's eyes: equal passages with how common each is, and how the cells were run.

No verdict and no points: two right answers to a short question may well be equal.
"""
