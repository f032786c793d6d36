"""Colours of pictures, each for light and for dark surroundings; and how wide texts are."""

from __future__ import annotations

COLORS = {
    "page": ("#ffffff", "#15181e"),
    "ink": ("#1d2330", "#e6e9ef"),
    "muted": ("#667085", "#98a2b3"),
    "line": ("#98a2b3", "#667085"),
    "box": ("#f6f7fa", "#1b1f27"),
    "box-deep": ("#eef1f6", "#222732"),
    "box-edge": ("#d5dae3", "#363d4a"),
    "op": ("#ffffff", "#2b313d"),
    "op-edge": ("#aab2c0", "#5a6475"),
    "parameter": ("#e3f3ec", "#17392f"),
    "parameter-edge": ("#3f9b78", "#4fb38d"),
    "leaf": ("#e7f0fc", "#1b3250"),
    "leaf-edge": ("#4a86cf", "#5f9ae0"),
    "root": ("#efe7fb", "#372553"),
    "root-edge": ("#7c4dc4", "#a57ee6"),
    "cut": ("#fdebe9", "#4a211e"),
    "cut-edge": ("#d0453b", "#ee6f64"),
    "accent": ("#d97706", "#fbb040"),
}
"""Name: light, dark."""

SANS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"

_NARROW, _WIDE = set("fijlrtI.,:;'|!()[] ·"), set("mwMWGOQ@%")


def width_of(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is, rather too wide than too narrow."""
    units = sum([0.36 if c in _NARROW else 0.9 if c in _WIDE else 1.05 if ord(c) > 0x2e80 else
                 0.67 if c.isupper() else 0.6 for c in text])
    return units * size * (1.12 if bold else 1.0)


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else text[:most - 1] + "…"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """A shape as pictures show it."""
    if shape is None:
        return ""
    return " × ".join(map(str, shape)) if shape else "scalar"


def size_text(count: float) -> str:
    """A number of bytes in units that are read at a glance."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1000
    raise AssertionError
