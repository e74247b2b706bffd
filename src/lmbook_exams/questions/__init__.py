"""The questions, a file for each chapter; `question` says how one is made."""
