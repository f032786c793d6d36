"""Points that fill a cube more evenly than random ones: Sobol's sequences."""

from __future__ import annotations

from typing import Any

from .backend.numpy.sequences import sobol_directions
from .base import dtypes
from .base.missing_names import suggest_names as _suggest_names
from .core.tensor import Tensor, wrap_any
from .ops.creation.filled import zeros
from .ops.creation.random import randint
from .ops.creation.ranges import arange
from .random import Generator

__all__ = ["SobolEngine"]


class SobolEngine:
    """Draws the points of a Sobol sequence in the cube of ``dimension`` dimensions.

    Scrambled, the sequence is shifted and its digits are mixed at random, as PyTorch does for the
    same seed. A point is made of its number alone, so that skipping costs nothing.
    """

    MAXBIT, MAXDIM = 30, 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError("Supported range of dimensionality for SobolEngine is "
                             f"[1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.num_generated = 0
        self.sobolstate: Tensor = wrap_any(sobol_directions(dimension, self.MAXBIT))
        self.shift = zeros(dimension, dtype=dtypes.int64)
        if scramble:
            self._scramble()

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = Generator().manual_seed(self.seed)
        bits = self.MAXBIT
        weights = 2 ** arange(bits)
        self.shift = randint(2, (self.dimension, bits), generator=generator) @ weights
        mixing = randint(2, (self.dimension, bits, bits), generator=generator).tril()
        mixing.diagonal(dim1=1, dim2=2).fill_(1)
        # Digits come first where they weigh most.
        digits = (self.sobolstate[..., None] // weights.flip(0)) % 2
        self.sobolstate = ((digits @ mixing.mT) % 2) @ weights.flip(0)

    @property
    def quasi(self) -> Tensor:
        """The next point, as whole numbers."""
        return self._points(1)[0]

    def _points(self, n: int) -> Tensor:
        """The next points, as whole numbers."""
        numbers = arange(self.num_generated, self.num_generated + n)
        places = (numbers ^ (numbers // 2))[:, None]  # of two neighbours one digit differs
        points = self.shift.expand(n, self.dimension).clone()
        for bit in range((self.num_generated + n).bit_length()):
            points ^= (places // 2 ** bit) % 2 * self.sobolstate[:, bit]
        return points

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: dtypes.dtype | None = None
             ) -> Tensor:
        """The next ``n`` points, one in each row."""
        if n < 1:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n - 1}: "
                               f"[{n - 1}, {self.dimension}]")
        made = self._points(n).to(dtype or dtypes.get_default_dtype()) / 2 ** self.MAXBIT
        self.num_generated += n
        if out is None:
            return made
        return out.resize_(made.shape).copy_(made)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: dtypes.dtype | None = None
                   ) -> Tensor:
        """The next ``2 ** m`` points; with those before they must be a power of two."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead.")
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point."""
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next ``n`` points."""
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        options: list[Any] = [f"dimension={self.dimension}"]
        options += ["scramble=True"] * self.scramble
        options += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(options)})"


_suggest_names(__name__)
