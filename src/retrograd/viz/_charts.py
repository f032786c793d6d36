"""Line charts as SVG text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from ._palette import COLORS, shortened

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 104, 64, 60
_SERIES = ("#2f74c0", "#d6604d", "#2e9c5a", "#9457b8", "#c98a1b", "#2aa3a3", "#c2568f", "#7c8797")
_MOST_LABELS = 16
_FONT = "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\""


def line_chart(series: Mapping[str, Points], title: str, subtitle: str, x_label: str,
               y_label: str, is_log: bool = True) -> str:
    """Draw named curves as an SVG document, with a logarithmic y axis unless told otherwise."""
    shown = {name: [(x, y) for x, y in points if math.isfinite(y) and (y > 0 or not is_log)]
             for name, points in series.items()}
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in shown.values() for _, y in points]
    if not ys:
        raise ValueError(f"a {'logarithmic ' * is_log}chart needs at least one "
                         f"{'positive, ' * is_log}finite value")
    x_axis = _LinearAxis(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT, is_whole=True)
    y_axis: _LinearAxis | _LogAxis = _LogAxis(min(ys), max(ys)) if is_log else _LinearAxis(
        min(0.0, *ys), max(ys), _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" {_FONT}>',
        f"<title>{escape(title)}</title>", _STYLE,
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" class="page"/>',
        _text(_LEFT, 28, title, size=17, weight="bold"),
        _text(_LEFT, 48, subtitle, size=12.5, look="muted"),
        *_y_ticks(y_axis),
        *_x_ticks(x_axis),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, x_label, size=13, anchor="middle"),
        _text(22, (_TOP + _HEIGHT - _BOTTOM) / 2, y_label, size=13, anchor="middle", turn=True),
    ]
    ends = []
    for number, (name, points) in enumerate(shown.items()):
        color = _SERIES[number % len(_SERIES)]
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in points]
        parts += _curve(places, color)
        if places:
            ends.append((places[-1][1], name, color))
    parts += _labels(ends)
    return "\n".join([*parts, "</svg>", ""])


def below_each_other(charts: Sequence[str]) -> str:
    """Charts as one SVG document."""
    height = _HEIGHT * len(charts)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">',
        *[chart.replace("<svg ", f'<svg y="{_HEIGHT * number}" ', 1)
          for number, chart in enumerate(charts)], "</svg>", ""])


class _LinearAxis:
    """Places values evenly between two places of the picture."""

    def __init__(self, low: float, high: float, start: float, end: float,
                 is_whole: bool = False) -> None:
        self.low = low
        self.high = high if high > low else low + 1
        self.start, self.end, self.is_whole = start, end, is_whole

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """About eight round numbers within the range; whole ones where epochs are counted."""
        rough = max((self.high - self.low) / 8, 1 if self.is_whole else 0)
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


def _y_ticks(axis: _LinearAxis | _LogAxis) -> list[str]:
    parts = []
    for value in axis.ticks():
        y = axis.place(value)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" '
                     'class="grid"/>')
        parts.append(_text(_LEFT - 10, y + 4, f"{value:.6g}", size=12, anchor="end", look="muted"))
    return parts


def _x_ticks(axis: _LinearAxis) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    parts = [f'<line x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH - _RIGHT}" y2="{bottom}" '
             'class="axis"/>']
    for value in axis.ticks():
        x = axis.place(value)
        parts.append(
            f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}" class="axis"/>')
        parts.append(_text(x, bottom + 20, f"{value:g}", size=12, anchor="middle", look="muted"))
    return parts


def _curve(places: list[tuple[float, float]], color: str) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2.2" '
             'stroke-linejoin="round" stroke-linecap="round"/>']
    if len(places) <= 40:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{color}" class="dot"/>'
                  for x, y in places]
    return parts


def _labels(ends: list[tuple[float, str, str]]) -> list[str]:
    """Name each curve at its right end, moved apart where two would overlap; of many, some."""
    parts = []
    last = -math.inf
    named = sorted(ends)[::-(-len(ends) // _MOST_LABELS) or 1]
    for number, (y, name, color) in enumerate(named):
        lowest = _HEIGHT - _BOTTOM - 17 * (len(named) - 1 - number)
        last = max(min(y, lowest), last + 17)
        parts.append(_text(_WIDTH - _RIGHT + 12, last + 4, shortened(name, 13), size=13, fill=color,
                           weight="bold"))
    return parts


def _text(x: float, y: float, content: str, *, size: float, anchor: str = "start",
          look: str = "ink", fill: str = "", weight: str = "normal", turn: bool = False) -> str:
    rotation = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    color = f'fill="{fill}"' if fill else f'class="{look}"'
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}" {color}{rotation}>{escape(content)}</text>')


def _rules(shade: int) -> str:
    """What depends on the surroundings being light or dark."""
    color = {name: shades[shade] for name, shades in COLORS.items()}
    return (f".page{{fill:{color['page']}}}.dot{{stroke:{color['page']}}}"
            f".ink{{fill:{color['ink']}}}.muted{{fill:{color['muted']}}}.grid{{stroke:{color['box-edge']}}}"
            f".axis{{stroke:{color['ink']}}}")


_STYLE = f"<style>{_rules(0)}@media(prefers-color-scheme:dark){{{_rules(1)}}}</style>"
