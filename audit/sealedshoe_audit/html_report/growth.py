"""How the log grew over time, drawn twice: records so far, and records of each stretch of time."""

from typing import Any

from sealedshoe_audit.html_report.charts import growth_bars, growth_line
from sealedshoe_audit.html_report.intervals import round_up
from sealedshoe_audit.html_report.markup import THIN_SPACE, Html, paragraph, tag, text
from sealedshoe_audit.html_report.wording import counted, duration, grouped, moment


def growth(bins: dict[str, Any]) -> Html:
    """Returns the figure; bins: as `verify.growth.Growth.json`."""
    records: list[int] = bins["records"]
    if not records:
        return paragraph("The log holds no record that passed its checks.")
    start, end = bins["start_us"], bins["start_us"] + bins["bin_us"] * len(records)
    total = counted(sum(records), "record")
    description = f"From 0 to {total} between {moment(start)} and {moment(end)}."
    top, bar_top = _top(sum(records)), _top(max(records))
    bin_text = _bin_text(bins["bin_us"])
    return tag(
        "figure",
        tag(
            "figcaption", text(f"Records of the log by the time they state, in bins of {bin_text}")
        ),
        _panel("Records so far", top, growth_line(records, top, "Records so far", description)),
        _panel(
            "Records in each bin", bar_top, growth_bars(records, bar_top, "Records in each bin")
        ),
        tag("div", _time(start), _time(end), class_="axis times"),
        class_="growth",
    )


def _top(count: int) -> int:
    """Returns the upper end of the scale, an even number, so that its half is whole."""
    return 2 * int(round_up((count + 1) // 2))


def _panel(name: str, top: int, drawing: Html) -> Html:
    steps = (tag("span", text(grouped(step))) for step in (top, top // 2, 0))
    scale = tag("div", *steps, class_="scale", aria_hidden="true")
    return tag("div", paragraph(name, "chart-name"), scale, drawing, class_="panel")


def _time(time_us: int) -> Html:
    return tag("span", text(moment(time_us)))


def _bin_text(bin_us: int) -> str:
    if bin_us < 1_000_000:
        return f"{grouped(bin_us // 1000)}{THIN_SPACE}ms"
    return duration(bin_us // 1_000_000)
