"""The handwritten digits; their source is named in the README beside the file."""

import gzip
from importlib.resources import files

from .. import Tensor
from ..base import dtypes
from ..ops.creation.from_data import tensor

_BRIGHTEST = 16
_PIXELS = 64


def digits() -> tuple[Tensor, Tensor]:
    """Return 1,797 handwritten digits: images (1797, 1, 8, 8) from 0 to 1, and labels (1797,).

    >>> images, labels = digits()
    >>> images.shape, labels.dtype
    (torch.Size([1797, 1, 8, 8]), torch.int64)
    """
    packed = files("retrograd.datasets").joinpath("digits.csv.gz").read_bytes()
    rows = [[int(cell) for cell in line.split(b",")] for line in gzip.decompress(packed).split()]
    table = tensor(rows, dtype=dtypes.int64)
    images = table[:, :_PIXELS].to(dtypes.float32) / _BRIGHTEST
    return images.reshape(-1, 1, 8, 8), table[:, _PIXELS].clone()
