"""Numbers, money, times, intervals and scales of the HTML report, one by one."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealedshoe_audit.html_report import wording
from sealedshoe_audit.html_report.intervals import Share, round_up

S = "\u202f"

# published values of Wilson's score interval, z = 1.96
WILSON = [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)]
WILSON += [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("count", "rounds", "low", "high"), WILSON)
def test_the_interval_is_wilson_s(count: int, rounds: int, low: float, high: float) -> None:
    found = Share(count, rounds, 0.5).interval()
    assert found == pytest.approx((low, high), abs=0.00006)


@pytest.mark.parametrize(
    ("value", "end"),
    [
        (1, 1),
        (1.01, 1.5),
        (9.6, 10),
        (10, 10),
        (10.1, 15),
        (3630, 4000),
        (0.07, 0.08),
        (1815, 2000),
    ],
)
def test_a_scale_ends_at_a_round_number(value: float, end: float) -> None:
    assert round_up(value) == pytest.approx(end)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (wording.grouped(-1_234_567), f"−1{S}234{S}567"),
        (wording.amount(-123_456, "USD"), f"−1{S}234.56"),
        (wording.amount(-5, "USD"), "−0.05"),
        (wording.amount(123_456, "XXX"), f"123{S}456 minor units"),
        (wording.percent(1, 3), f"33.33{S}%"),
        (wording.counted(1, "witness", "witnesses"), "1 witness"),
        (wording.counted(2, "witness", "witnesses"), "2 witnesses"),
        (wording.moment(0), "1970-01-01 00:00:00 UTC"),
        (wording.moment(951_782_400_000_000), "2000-02-29 00:00:00 UTC"),
        (wording.moment(2**63 - 1), "294247-01-10 04:00:54 UTC"),
        (wording.duration(0), f"0{S}s"),
        (wording.duration(3600), f"1{S}h 0{S}min"),
    ],
)
def test_values_are_written_as_people_read_them(written: str, text: str) -> None:
    assert written == text


@given(st.datetimes(min_value=datetime(1970, 1, 1)))
def test_a_time_is_the_calendar_s(when: datetime) -> None:
    time_us = (when - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert wording.moment(time_us) == f"{when:%Y-%m-%d %H:%M:%S} UTC"
