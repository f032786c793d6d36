"""Fourier transforms.

======================  ==============================================================
:mod:`.transforms`      the three ops: complex to complex, real to complex and back
:mod:`.functions`       ``torch.fft``, made of them
:mod:`.short_time`      spectra of windows that move along a signal, and back
======================  ==============================================================
"""

from __future__ import annotations

from . import functions, short_time, transforms

__all__ = ["functions", "short_time", "transforms"]
