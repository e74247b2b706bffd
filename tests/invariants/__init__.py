"""The fifteen checks, over every model, and a few broken models that they catch."""
