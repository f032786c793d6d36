"""Loaders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declaring import Step, line


def loading(workers: int, name: str, make_dataset: Callable[[Any, Any, Any], Any]) -> None:
    """A line for an epoch of 32 batches of 64 images."""

    @line(f"data: an epoch of 32 batches, {name}, {workers} workers", batches=32)
    def make(lib: Any) -> Step:
        lib.manual_seed(0)
        images, labels = lib.randn(2048, 1, 28, 28), lib.arange(2048) % 10
        loader = lib.utils.data.DataLoader(
            make_dataset(lib, images, labels), 64, shuffle=True, num_workers=workers,
            persistent_workers=workers > 0, generator=lib.Generator().manual_seed(1),
            multiprocessing_context="fork" if workers else None)

        def step() -> Any:
            return float(sum(x[0, 0, 0, 0] * y[0] for x, y in loader))

        return step


def pairs(lib: Any, images: Any, labels: Any) -> Any:
    """Samples that are made one by one, as a program's own data set makes them."""

    class Pairs(lib.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return len(images)

        def __getitem__(self, index: int) -> Any:
            return (images[index] - 0.5) * 2.0, index % 10

    return Pairs()


for _workers in (0, 2):
    loading(_workers, "rows of tensors",
            lambda lib, *tensors: lib.utils.data.TensorDataset(*tensors))
    loading(_workers, "samples made in Python", pairs)
