"""What PyTorch offers for trial."""

from contextlib import nullcontext

__all__ = ["implicit_replication"]


class implicit_replication(nullcontext[None]):
    """A block in which plain tensors meet spread ones, of which there are none."""

    def __init__(self) -> None:
        super().__init__(None)
