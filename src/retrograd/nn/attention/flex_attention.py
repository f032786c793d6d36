"""Attention whose scores a function changes and whose mask a function tells.

A function of one score and its four places (batch, head, query, key) is mapped over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...base import dtypes
from ...base.missing_names import suggest_names as _suggest_names
from ...core.tensor import Tensor
from ...func import vmap
from ...ops.creation.filled import ones
from ...ops.creation.ranges import arange
from ...ops.elementwise.where import where
from ...ops.nn.padding import pad

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask",
           "flex_attention", "noop_mask", "or_masks"]

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_BLOCK = _DEFAULT_SPARSE_BLOCK_SIZE = 128


@dataclass(frozen=True)
class AuxRequest:
    """What is wanted besides the output."""

    lse: bool = False
    max_scores: bool = False


@dataclass(frozen=True)
class AuxOutput:
    """What was wanted besides the output."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


# ---------------------------------------------------------------- masks by functions


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask that leaves every key to every query."""
    return ones((), dtype=dtypes.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what all of some masks leave."""
    _check_callable(mask_mods)

    def and_mask(*places: Tensor) -> Tensor:
        found = ones((), dtype=dtypes.bool)
        for mask in mask_mods:
            found = found & mask(*places)
        return found

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what any of some masks leaves."""
    _check_callable(mask_mods)

    def or_mask(*places: Tensor) -> Tensor:
        found = ~ones((), dtype=dtypes.bool)
        for mask in mask_mods:
            found = found | mask(*places)
        return found

    return or_mask


def _check_callable(mask_mods: tuple[Any, ...]) -> None:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def _over_places(function: Callable[..., Tensor], sizes: tuple[int, int, int, int],
                 *scores: Tensor) -> Tensor:
    """What a function gives at all places; ``scores`` have one of their dims for each kind."""
    for kind in reversed(range(4)):
        dims = [None] * 4
        dims[kind] = 0  # type: ignore[call-overload]
        function = vmap(function, in_dims=(*(0 for _ in scores), *dims))
    return function(*scores, *map(arange, sizes))


def create_mask(mod_fn: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                device: Any = None) -> Tensor:
    """Which keys a function of places leaves to which queries, one truth for each place."""
    return _over_places(mod_fn, (B or 1, H or 1, Q_LEN, KV_LEN))


# ---------------------------------------------------------------- masks by blocks


_LISTS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
          "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")


class BlockMask:
    """A mask, and which blocks of it are not empty; full ones are told apart.

    The blocks of a row are listed by their numbers, those that count first: there are
    ``kv_num_blocks`` of ``kv_indices``. The same by columns begins with ``q``.
    """

    def __init__(self, seq_lengths: tuple[int, int], kv_num_blocks: Tensor, kv_indices: Tensor,
                 full_kv_num_blocks: Tensor | None, full_kv_indices: Tensor | None,
                 q_num_blocks: Tensor | None, q_indices: Tensor | None,
                 full_q_num_blocks: Tensor | None, full_q_indices: Tensor | None,
                 BLOCK_SIZE: tuple[int, int] = (128, 128), mask_mod: MaskMod = noop_mask) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks: Tensor, kv_indices: Tensor,
                       full_kv_num_blocks: Tensor | None = None,
                       full_kv_indices: Tensor | None = None,
                       BLOCK_SIZE: int | tuple[int, int] = _BLOCK,
                       mask_mod: MaskMod | None = None,
                       seq_lengths: tuple[int, int] | None = None) -> BlockMask:
        """The mask of the blocks that are listed by rows."""
        size = _pair(BLOCK_SIZE)
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or "
                                 "omitted")
        rows, columns = kv_indices.shape[-2:]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else seq_lengths
        columnwise = _listed(_marked(kv_num_blocks, kv_indices).transpose(-2, -1))
        full: Any = (None, None) if full_kv_num_blocks is None else _listed(
            _marked(full_kv_num_blocks, full_kv_indices).transpose(-2, -1))
        parts: Any = (lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
                      *columnwise, *full, size, mask_mod or noop_mask)
        return cls(*parts)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of places."""
        return math.prod(self.shape)

    def to_dense(self) -> Tensor:
        """Which blocks are not empty."""
        partial = _marked(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None:
            partial = partial | _marked(self.full_kv_num_blocks, self.full_kv_indices)
        return partial.to(dtypes.int32)

    def sparsity(self) -> float:
        """The share of places in empty blocks, in percent."""
        covered = int(self.to_dense().sum()) * math.prod(self.BLOCK_SIZE)
        return 100 * (1 - covered / self.numel())

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """What the mask is made of."""
        parts = (*self._lists(), *(None,) * 4)  # no orders of writes, which a GPU may be given
        if flatten:
            return (*self.seq_lengths, *parts, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *parts, self.BLOCK_SIZE, self.mask_mod)

    def _lists(self) -> tuple[Tensor | None, ...]:
        return tuple([getattr(self, name) for name in _LISTS])

    def _with(self, change: Callable[[Tensor], Tensor]) -> BlockMask:
        lists = [None if part is None else change(part) for part in self._lists()]
        parts: Any = (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)
        return BlockMask(*parts)

    def to(self, device: Any) -> BlockMask:
        """The mask on a device."""
        return self._with(lambda part: part.to(device))

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches and heads; what its function asks of their numbers stays."""
        places = (*index,) if isinstance(index, tuple) else (index,)
        kept = tuple([slice(i, i + 1 or None) if isinstance(i, int) else i for i in places])
        return self._with(lambda part: part[kept])

    def __repr__(self) -> str:
        shown: dict[str, Any] = {
            **{name: None if part is None else part.shape
               for name, part in zip(_LISTS, self._lists(), strict=True)},
            "BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape,
            "sparsity": f"{self.sparsity():.2f}%",
            "mask_mod": getattr(self.mask_mod, "__name__", self.mask_mod)}
        lines = ",\n".join(f"    {name}={value}" for name, value in shown.items())
        return f"BlockMask(\n{lines}\n)"


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Of each row, how many blocks are marked, and all blocks, the marked ones first."""
    order = blocks.to(dtypes.int32).argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(-1, dtype=dtypes.int32), order.to(dtypes.int32)


def _marked(counts: Tensor, indices: Any) -> Tensor:
    """The blocks that a list of their numbers marks."""
    counted = arange(indices.shape[-1]) < counts[..., None]
    marked = counted.new_zeros(indices.shape)
    return marked.scatter(-1, indices.to(dtypes.int64), counted)


def create_block_mask(mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                      device: Any = None, BLOCK_SIZE: int | tuple[int, int] = _BLOCK,
                      _compile: bool = False, separate_full_blocks: bool = True) -> BlockMask:
    """The mask that a function tells, and which of its blocks are empty, partial and full."""
    rows, columns = size = _pair(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    padded = pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    blocks = padded.unflatten(-1, (-1, columns)).unflatten(-3, (-1, rows))
    inside = blocks.sum((-3, -1))
    full = inside == rows * columns if separate_full_blocks else inside < 0
    partial = (inside > 0) & ~full
    fulls: Any = _listed(full) if separate_full_blocks else (None, None)
    parts: Any = (*_listed(partial), *fulls, size, mask_mod, (Q_LEN, KV_LEN))
    return BlockMask.from_kv_blocks(*parts)


# ---------------------------------------------------------------- attention


def flex_attention(query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None = None,
                   block_mask: BlockMask | None = None, scale: float | None = None,
                   enable_gqa: bool = False, return_lse: bool = False, kernel_options: Any = None,
                   *, return_aux: AuxRequest | None = None) -> Any:
    """Attention with scores that ``score_mod`` changes, where ``block_mask`` leaves them.

    Gradients of all orders pass through it, through what ``score_mod`` reads as well.
    """
    _check(query, key, value, enable_gqa, block_mask)
    key, value = key.to(query.dtype), value.to(query.dtype)
    if enable_gqa:
        shared = query.shape[1] // key.shape[1]
        key, value = (part.repeat_interleave(shared, dim=1) for part in (key, value))
    precise = dtypes.float64 if query.dtype is dtypes.float64 else dtypes.float32
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)).to(precise) * scale
    sizes = tuple(scores.shape)
    if score_mod is not None:
        scores = _over_places(score_mod, sizes, scores).to(precise)  # type: ignore[arg-type]
    if block_mask is not None:
        batches, heads = block_mask.shape[:2]
        kept = create_mask(block_mask.mask_mod, batches, heads, *sizes[2:])
        scores = where(kept, scores, -math.inf)
    # A query that is left no key gets zeros, and a gradient of zero.
    is_left = (scores > -math.inf).any(-1, keepdim=True)
    weights = where(is_left, where(is_left, scores, 0.0).softmax(-1), 0.0)
    out = weights.to(query.dtype) @ value
    lse = where(is_left[..., 0], scores.logsumexp(-1), -math.inf) if return_lse or (
        return_aux is not None and return_aux.lse) else None
    if return_aux is not None:
        return out, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (out, lse) if return_lse else out


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool, block_mask: Any) -> None:
    for name, part in (("query", query), ("key", key), ("value", value)):
        if part.dim() != 4:
            raise NotImplementedError("NYI: query, key, and value must be 4D tensors: "
                                      f"{name} has {part.dim()} dimensions")
    queries, keys = query.shape[1], key.shape[1]
    if not enable_gqa and queries != keys:
        raise ValueError("Expect query and key/value to have the same number of heads but got "
                         f"Hq={queries} and Hkv={keys}. Try setting enable_gqa=True for GQA.")
    if enable_gqa and queries % keys:
        raise ValueError("Expect number of query heads to be a multiple of kv heads for GQA but "
                         f"got Hq={queries} and Hkv={keys}.")
    if block_mask is None:
        return
    if not isinstance(block_mask, BlockMask):
        raise RuntimeError("block_mask must be a BlockMask, as create_block_mask makes it, but got "
                           f"{type(block_mask).__name__}")
    if block_mask.seq_lengths != (query.shape[-2], key.shape[-2]):
        raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got "
                         f"q_len={query.shape[-2]} and kv_len={key.shape[-2]}. Make one for these "
                         "lengths with create_block_mask")


_suggest_names(__name__)
