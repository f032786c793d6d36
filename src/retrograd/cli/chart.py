"""Line charts as SVG text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 104, 64, 60
_COLORS = ("#2166ac", "#d6604d", "#1b7837", "#762a83")
_INK, _MUTED, _GRID = "#222222", "#5c5c5c", "#e3e3e3"
_FONT = "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\""


def line_chart(series: Mapping[str, Points], title: str, subtitle: str, x_label: str,
               y_label: str) -> str:
    """Draw named curves over a linear x axis and a logarithmic y axis, as an SVG document."""
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points if y > 0 and math.isfinite(y)]
    if not ys:
        raise ValueError("a logarithmic chart needs at least one positive, finite value")
    x_axis = _LinearAxis(min(xs), max(xs))
    y_axis = _LogAxis(min(ys), max(ys))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" {_FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 28, title, size=17, weight="bold"),
        _text(_LEFT, 48, subtitle, size=12.5, fill=_MUTED),
        *_y_ticks(y_axis),
        *_x_ticks(x_axis),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, x_label, size=13, anchor="middle"),
        _text(22, (_TOP + _HEIGHT - _BOTTOM) / 2, y_label, size=13, anchor="middle", turn=True),
    ]
    ends = []
    for number, (name, points) in enumerate(series.items()):
        color = _COLORS[number % len(_COLORS)]
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in points if y > 0]
        parts += _curve(places, color)
        if places:
            ends.append((places[-1][1], name, color))
    parts += _labels(ends)
    return "\n".join([*parts, "</svg>", ""])


class _LinearAxis:
    """Places values from left to right."""

    def __init__(self, low: float, high: float) -> None:
        self.low = low
        self.high = high if high > low else low + 1

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def ticks(self) -> list[float]:
        """Return about eight round numbers within the range; whole ones, as epochs are counted."""
        rough = max((self.high - self.low) / 8, 1)
        scale = 10 ** math.floor(math.log10(rough))
        step = next(scale * factor for factor in (1, 2, 5, 10) if scale * factor >= rough)
        first = math.ceil(self.low / step) * step
        return [first + step * i for i in range(int((self.high - first) / step + 1e-9) + 1)]


class _LogAxis:
    """Places values from bottom to top, by their logarithm."""

    def __init__(self, low: float, high: float) -> None:
        self.low = _round_down(low)
        self.high = max(_round_up(high), self.low * 10)

    def place(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def ticks(self) -> list[float]:
        """Return 1, 2 and 5 times the powers of ten in range; only the powers if it is wide."""
        factors = (1, 2, 5) if self.high / self.low < 10**4 else (1,)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        found = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
        return [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= value * 1.001)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return min(factor * power for factor in (1, 2, 5, 10) if factor * power >= value * 0.999)


def _y_ticks(axis: _LogAxis) -> list[str]:
    parts = []
    for value in axis.ticks():
        y = axis.place(value)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" '
                     f'stroke="{_GRID}"/>')
        parts.append(_text(_LEFT - 10, y + 4, f"{value:.6g}", size=12, anchor="end", fill=_MUTED))
    return parts


def _x_ticks(axis: _LinearAxis) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    parts = [f'<line x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH - _RIGHT}" y2="{bottom}" '
             f'stroke="{_INK}"/>']
    for value in axis.ticks():
        x = axis.place(value)
        parts.append(
            f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}" stroke="{_INK}"/>')
        parts.append(_text(x, bottom + 20, f"{value:g}", size=12, anchor="middle", fill=_MUTED))
    return parts


def _curve(places: list[tuple[float, float]], color: str) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2.2" '
             'stroke-linejoin="round" stroke-linecap="round"/>']
    if len(places) <= 40:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{color}" stroke="#ffffff"/>'
                  for x, y in places]
    return parts


def _labels(ends: list[tuple[float, str, str]]) -> list[str]:
    """Name each curve at its right end, moved apart where two would overlap."""
    parts = []
    last = -math.inf
    for y, name, color in sorted(ends):
        last = max(y, last + 17)
        parts.append(_text(_WIDTH - _RIGHT + 12, last + 4, name, size=13, fill=color,
                           weight="bold"))
    return parts


def _text(x: float, y: float, content: str, *, size: float, anchor: str = "start", fill: str = _INK,
          weight: str = "normal", turn: bool = False) -> str:
    rotation = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}" fill="{fill}"{rotation}>{escape(content)}</text>')
