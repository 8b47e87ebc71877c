"""Growth of a log in bins: constant memory, and never a record lost or counted in another's time."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sealedshoe_audit.verify.growth import Growth

SECOND = 1_000_000
DAY = 86_400 * SECOND
TIMES = st.lists(st.integers(1, 2**63 - 1) | st.integers(0, 10**6).map(lambda n: DAY + n * 997))


def grown(times: list[int]) -> dict[str, object]:
    """Counts all times."""
    growth = Growth()
    for time_us in times:
        growth.take(time_us)
    return growth.json()


def test_a_log_without_records_has_no_bins() -> None:
    assert grown([]) == {"start_us": 0, "bin_us": 1000, "records": []}


def test_records_of_one_millisecond_share_a_bin() -> None:
    assert grown([5000, 5999, 6000]) == {"start_us": 5000, "bin_us": 1000, "records": [2, 1]}


def test_empty_bins_between_records_are_shown() -> None:
    assert grown([0, 3000]) == {"start_us": 0, "bin_us": 1000, "records": [1, 0, 0, 1]}


def test_128_bins_fit_and_the_129th_doubles_their_width() -> None:
    first = [n * 1000 for n in range(128)]
    assert grown(first) == {"start_us": 0, "bin_us": 1000, "records": [1] * 128}
    assert grown([*first, 128_000]) == {"start_us": 0, "bin_us": 2000, "records": [2] * 64 + [1]}


def test_a_record_from_long_before_is_counted_in_its_own_time() -> None:
    # 36,000,000 ms: 2^19 ms is the narrowest width whose bin 68 holds it; 2^18 ms needs bin 137
    hours = grown([10 * 3600 * SECOND, 0])
    assert hours == {"start_us": 0, "bin_us": 524_288_000, "records": [1, *[0] * 67, 1]}


@given(TIMES)
def test_bins_hold_what_a_plain_count_holds(times: list[int]) -> None:
    found = grown(times)
    start, width, records = found["start_us"], found["bin_us"], found["records"]
    assert isinstance(start, int)
    assert isinstance(width, int)
    assert isinstance(records, list)
    plain = Counter((time_us - start) // width for time_us in times)
    assert records == [plain[n] for n in range(len(records))]
    assert sum(records) == len(times)


@given(TIMES.filter(bool))
def test_there_are_at_most_128_bins_and_they_are_no_wider_than_needed(times: list[int]) -> None:
    found = grown(times)
    width, records = found["bin_us"], found["records"]
    assert isinstance(width, int)
    assert isinstance(records, list)
    assert len(records) <= 128
    assert records[0] > 0
    assert records[-1] > 0
    half = width // 2
    assert width == 1000 or max(times) // half - min(times) // half >= 128


@given(TIMES)
def test_the_order_of_the_records_does_not_matter(times: list[int]) -> None:
    assert grown(sorted(times)) == grown(times) == grown(times[::-1])
