"""The health tests of a source: SP 800-90B 4.4 with cut-offs 5 and 16 in 512."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_rng.health import HealthFailure, SourceHealth


def feed(health: SourceHealth, *reads: bytes) -> None:
    """Passes reads through the tests, one by one."""
    for data in reads:
        health.check(data)


def varied(size: int, start: int = 0) -> bytes:
    """Bytes without runs, each value about equally often."""
    return bytes((start + i * 101) % 256 for i in range(size))


def window(first_byte_count: int) -> bytes:
    """512 bytes in which the first one stands so many times, never twice in a row."""
    others = iter(bytes(1 + i % 200 for i in range(512)))
    places = set(range(0, 2 * first_byte_count, 2))
    return bytes(0 if i in places else next(others) for i in range(512))


def test_four_equal_bytes_pass_and_five_do_not() -> None:
    """The repetition count test fires exactly at its cut-off of 5."""
    SourceHealth("s").check(b"\x01" + b"\x07" * 4 + b"\x02")
    with pytest.raises(HealthFailure, match="repetition count"):
        SourceHealth("s").check(b"\x01" + b"\x07" * 5 + b"\x02")


@pytest.mark.parametrize("split", [1, 2, 3, 4])
def test_a_run_across_two_reads_is_counted_whole(split: int) -> None:
    """Five equal bytes are found wherever one read ends and the next begins."""
    health = SourceHealth("s")
    health.check(b"\x01" + b"\x07" * split)
    with pytest.raises(HealthFailure, match="repetition count"):
        health.check(b"\x07" * (5 - split) + b"\x02")


def test_a_run_of_four_across_three_reads_passes() -> None:
    """Reads shorter than the cut-off add up, and no further than they reach."""
    health = SourceHealth("s")
    feed(health, b"\x07\x07", b"\x07", b"\x07", b"\x08", b"\x08", b"\x08", b"\x08")
    with pytest.raises(HealthFailure):
        health.check(b"\x08")


def test_newlines_are_bytes_like_others() -> None:
    """A source stuck at 0x0a is found as well as any."""
    with pytest.raises(HealthFailure, match="repetition count"):
        SourceHealth("s").check(b"\x01" + b"\n" * 5)


def test_fifteen_in_a_window_pass_and_sixteen_do_not() -> None:
    """The adaptive proportion test fires exactly at its cut-off of 16 in 512."""
    SourceHealth("s").check(window(15))
    with pytest.raises(HealthFailure, match="adaptive proportion"):
        SourceHealth("s").check(window(16))


def test_a_window_that_fills_over_many_reads_is_judged() -> None:
    """Sixteen in 512 are found when the bytes come in pieces of ten."""
    health = SourceHealth("s")
    data = window(16)
    pieces = [data[i : i + 10] for i in range(0, 512, 10)]
    feed(health, *pieces[:-1])
    with pytest.raises(HealthFailure, match="adaptive proportion"):
        health.check(pieces[-1])


def test_every_window_is_judged() -> None:
    """A bad window behind a good one is found in the same read."""
    with pytest.raises(HealthFailure, match="adaptive proportion"):
        SourceHealth("s").check(varied(512) + window(16))


def test_the_same_read_twice_is_found() -> None:
    """A source that repeats itself wholesale fails at its second read."""
    health = SourceHealth("s")
    health.check(varied(48))
    with pytest.raises(HealthFailure, match="two reads in a row"):
        health.check(varied(48))


@given(st.integers(0, 255), st.integers(5, 4096))
@settings(deadline=None, max_examples=50)
def test_a_stuck_source_fails_at_any_value(value: int, size: int) -> None:
    """One value for ever is refused at the first read of five bytes or more."""
    with pytest.raises(HealthFailure):
        SourceHealth("s").check(bytes([value]) * size)


@given(st.binary(min_size=16, max_size=600))
@settings(deadline=None, max_examples=50)
def test_a_failure_names_the_source_and_never_its_bytes(data: bytes) -> None:
    """The text of a failure holds none of the bytes that failed."""
    health = SourceHealth("the-source")
    with pytest.raises(HealthFailure) as caught:
        feed(health, data, data)
    assert str(caught.value).startswith("the-source: ")
    assert data.hex()[:32] not in str(caught.value)
    assert repr(data) not in str(caught.value)
