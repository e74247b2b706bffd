"""safetensors in a page, whose own code is compiled: files are read as their format says (safetensors.torch.load)."""


class SafetensorError(Exception):
    """A file is not in the format."""
