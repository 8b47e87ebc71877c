"""The server's clock: carried on by the monotonic clock when the wall clock falls behind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.hand_set_clocks import T0_S, HandSetClocks, clock_of

HOUR_S = 3600


@pytest.fixture
def clocks() -> HandSetClocks:
    return HandSetClocks()


def test_the_wall_clock_is_told_in_microseconds(clocks: HandSetClocks) -> None:
    """While nothing odd happens, it is the wall clock."""
    clock = clock_of(clocks)
    clocks.run(1.5)
    assert clock.now_us() == T0_S * 10**6 + 1_500_000
    assert (clock.behind_us, clock.stepped_back) == (0, False)


def test_an_hour_back_is_carried_on_by_the_monotonic_clock(clocks: HandSetClocks) -> None:
    """Time goes on at its pace; the step is seen until the wall clock has caught up."""
    clock = clock_of(clocks)
    clocks.step(-HOUR_S)
    clocks.run(10)
    assert clock.now_us() == (T0_S + 10) * 10**6
    assert clock.behind_us == HOUR_S * 10**6
    assert clock.stepped_back
    clocks.step(HOUR_S)
    assert clock.now_us() == (T0_S + 10) * 10**6
    assert not clock.stepped_back


def test_a_jump_ahead_is_followed_and_never_taken_back(clocks: HandSetClocks) -> None:
    """After the jump is undone, time goes on from where it was."""
    clock = clock_of(clocks)
    clocks.step(HOUR_S)
    assert clock.now_us() == (T0_S + HOUR_S) * 10**6
    clocks.step(-HOUR_S)
    clocks.run(1)
    assert clock.now_us() == (T0_S + HOUR_S + 1) * 10**6
    assert clock.stepped_back


def test_a_restart_behind_the_newest_record_goes_on_from_it(clocks: HandSetClocks) -> None:
    """The floor is the log's own time."""
    clock = clock_of(clocks, floor_s=T0_S + HOUR_S)
    clocks.run(2)
    assert clock.now_us() == (T0_S + HOUR_S + 2) * 10**6
    assert clock.stepped_back


def test_less_than_a_second_behind_is_no_event(clocks: HandSetClocks) -> None:
    """Slewing and leap smearing are ordinary; a whole second is not."""
    clock = clock_of(clocks)
    clocks.step(-0.999999)
    clock.now_us()
    assert not clock.stepped_back
    clocks.step(-0.000001)
    clock.now_us()
    assert clock.stepped_back


@given(st.lists(st.tuples(st.booleans(), st.integers(-(10**12), 10**12)), max_size=30))
@settings(deadline=None, max_examples=100)
def test_time_never_decreases(moves: list[tuple[bool, int]]) -> None:
    """Whatever is done to the wall clock in between."""
    clocks = HandSetClocks()
    clock = clock_of(clocks)
    last = clock.now_us()
    for step, amount_ns in moves:
        if step:
            clocks.wall += amount_ns
        else:
            clocks.run(abs(amount_ns) / 1e9)
        now = clock.now_us()
        assert now >= last
        last = now
