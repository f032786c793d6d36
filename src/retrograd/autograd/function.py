"""Custom differentiable functions."""

class Function:
    pass
