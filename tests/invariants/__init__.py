"""The fifteen checks, over every model, and the broken models that they catch."""
