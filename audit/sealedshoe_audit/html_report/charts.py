"""Drawings as inline SVG. Words stay outside of them, in HTML, so that they never shrink on a phone.

Each drawing stretches to whatever width it is given: a strip by percentages, which keep its dot round,
the growth by its view box, whose lines keep their thickness by style.
"""

from collections.abc import Sequence
from itertools import accumulate

from sealedshoe_audit.html_report.intervals import Share
from sealedshoe_audit.html_report.markup import Html, tag, text

_CHECK, _CROSS = "M19 33.5 28.5 43 46 23", "M22 22 42 42M42 22 22 42"


def verdict_icon(*, valid: bool) -> Html:
    """Draws a tick or a cross in a circle."""
    return tag(
        "svg",
        tag("title", text("Valid" if valid else "Invalid")),
        tag("circle", cx="32", cy="32", r="29"),
        tag("path", d=_CHECK if valid else _CROSS),
        viewBox="0 0 64 64",
        role="img",
        class_="icon",
    )


def deviation_strip(title: str, share: Share, reach: float) -> Html:
    """Draws the 95 % interval and the observed share against the exact probability in the middle.

    Args:
        reach: distance from the middle to either edge, as a share.
    """
    low, high = share.interval()

    def across(value: float) -> str:
        return f"{50 + 49 * (value - share.exact) / reach:.2f}%"

    verb = "contains" if share.covers_exact else "does not contain"
    return tag(
        "svg",
        tag("title", text(title)),
        tag("desc", text(f"The 95 % interval {verb} the exact probability.")),
        tag("line", x1="0", x2="100%", y1="50%", y2="50%", class_="base"),
        tag("line", x1="50%", x2="50%", y1="0", y2="100%", class_="exact"),
        tag("line", x1=across(low), x2=across(high), y1="50%", y2="50%", class_="interval"),
        tag("circle", cx=across(share.observed), cy="50%", r="4", class_="observed"),
        role="img",
        class_="strip" if share.covers_exact else "strip missed",
    )


def growth_line(records: Sequence[int], top: int, title: str, description: str) -> Html:
    """Draws the number of records so far, bin by bin, with `top` at the upper edge."""
    heights = [0, *accumulate(records)]
    points = [f"{x} {100 - 100 * height / top:.3f}" for x, height in enumerate(heights)]
    line = f"M{'L'.join(points)}"
    return tag(
        "svg",
        tag("title", text(title)),
        tag("desc", text(description)),
        *(tag("path", d=f"M0 {y}H{len(records)}", class_="grid") for y in (0, 50, 100)),
        tag("path", d=f"{line}V100H0Z", class_="area"),
        tag("path", d=line, class_="line"),
        **_stretched(len(records), "line-chart"),
    )


def growth_bars(records: Sequence[int], top: int, title: str) -> Html:
    """Draws the number of records of each bin."""
    bars = [
        tag(
            "rect",
            x=f"{x + 0.08:.2f}",
            width="0.84",
            y=f"{100 - height:.3f}",
            height=f"{height:.3f}",
        )
        for x, height in enumerate(100 * count / top for count in records)
        if height
    ]
    floor = tag("path", d=f"M0 100H{len(records)}", class_="grid")
    return tag(
        "svg", tag("title", text(title)), floor, *bars, **_stretched(len(records), "bar-chart")
    )


def _stretched(width: int, kind: str) -> dict[str, str]:
    return {
        "viewBox": f"0 0 {width} 100",
        "preserveAspectRatio": "none",
        "role": "img",
        "class_": kind,
    }
