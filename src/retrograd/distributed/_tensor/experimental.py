"""Where older programs find :mod:`..tensor.experimental`."""

from ..tensor.experimental import implicit_replication

__all__ = ["implicit_replication"]
