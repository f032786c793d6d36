"""retrograd beside PyTorch and other libraries: ``python -m bench --help``."""
