"""Programs of packages that are made for PyTorch, run on both libraries (`make packages`)."""
