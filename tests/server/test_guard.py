"""The guard's file: whatever happens to one write, the head before it stands, and damage is never a head."""

import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_server.guard import ENDED, Guard
from sealedshoe_server.storage.interface import StoreRefused
from tests.server.guards import SLOT, guard_file, guarded, head_text, slot

FIRST, SECOND, THIRD = (slot(n, head_text(10 * n)) for n in (1, 2, 3))
TWO = guard_file(SECOND, FIRST)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the guard lies."""
    return tmp_path / "guard"


def held(path: Path) -> tuple[int, str, int] | None:
    """Counter, state and size that a new process reads."""
    found = Guard(path).read()
    return None if found is None else (found.counter, found.state, found.head.size)


def test_heads_go_into_the_two_slots_in_turn(path: Path) -> None:
    """The older slot is replaced, the newer stands; every byte is as described."""
    guard = Guard(path)
    guard.write(head_text(10))
    assert path.read_bytes() == bytes(SLOT) + FIRST
    guard.write(head_text(20))
    assert path.read_bytes() == TWO
    guard.write(head_text(30))
    assert path.read_bytes() == guard_file(SECOND, THIRD)
    assert guarded(path) == ("open", 30, b"r" * 32)


def test_a_new_process_goes_on_counting(path: Path) -> None:
    """Having read first, it replaces the older slot too."""
    path.write_bytes(TWO)
    guard = Guard(path)
    assert guard.read() is not None
    guard.write(head_text(30))
    assert path.read_bytes() == guard_file(SECOND, THIRD)


def test_the_file_is_opened_and_never_replaced(path: Path) -> None:
    """Another owner may keep it where this process can write the file and nothing else."""
    guard = Guard(path)
    guard.write(head_text(10))
    made = path.stat()
    for size in range(11, 30):
        guard.write(head_text(size))
    assert path.stat().st_ino == made.st_ino
    assert stat.S_IMODE(made.st_mode) == 0o600
    assert path.stat().st_size == 2 * SLOT
    assert list(path.parent.iterdir()) == [path]


def test_the_same_head_is_written_once(path: Path) -> None:
    """A retry costs nothing, but an end is always written."""
    guard = Guard(path)
    guard.write(head_text(10))
    guard.write(head_text(10))
    assert held(path) == (1, "open", 10)
    guard.write(head_text(10), ENDED)
    assert held(path) == (2, "ended", 10)


def test_a_write_that_fails_leaves_the_head_before(path: Path) -> None:
    """And the same head can be written later."""
    guard = Guard(path)
    guard.write(head_text(10))
    aside = path.rename(path.with_name("aside"))
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        guard.write(head_text(20))
    path.rmdir()
    aside.rename(path)
    assert held(path) == (1, "open", 10)
    guard.write(head_text(20))
    assert held(path) == (2, "open", 20)


@pytest.mark.parametrize(
    ("before", "counter", "size", "text"),
    [(TWO, 3, 20, THIRD), (guard_file(SECOND, THIRD), 4, 30, b"")],
)
def test_a_write_torn_at_any_byte_leaves_the_head_before(
    path: Path, before: bytes, counter: int, size: int, text: bytes
) -> None:
    """In the second slot and in the first; the next write mends it."""
    new = text or slot(4, head_text(40))
    start = counter % 2 * SLOT
    for torn in range(SLOT):
        path.write_bytes(before[:start] + new[:torn] + before[start + torn :])
        guard = Guard(path)
        found = guard.read()
        assert found is not None
        assert (found.counter, found.head.size) == (counter - 1, size)
        guard.write(head_text(10 * counter))
        assert path.read_bytes() == before[:start] + new + before[start + SLOT :]


def test_a_first_write_torn_at_any_byte_is_never_a_head(path: Path) -> None:
    """There is no head before it: nothing was ever released."""
    assert held(path) is None
    path.touch()
    assert held(path) is None
    for torn in range(1, SLOT):
        path.write_bytes(bytes(SLOT) + FIRST[:torn])
        with pytest.raises(StoreRefused, match="damaged"):
            held(path)


def test_a_second_write_torn_in_a_short_file_leaves_the_first(path: Path) -> None:
    """The file grows with the first write: slot 0 is a hole until the second."""
    for torn in range(SLOT):
        path.write_bytes(SECOND[:torn] + bytes(SLOT - torn) + FIRST)
        assert held(path) == (1, "open", 10)


def test_a_flipped_byte_anywhere_loses_no_more_than_its_slot(path: Path) -> None:
    """The other slot's head is read."""
    for place in range(2 * SLOT):
        flipped = bytearray(TWO)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert held(path) == ((1, "open", 10) if place < SLOT else (2, "open", 20))


def test_damage_in_both_slots_is_refused(path: Path) -> None:
    """With the file's name and the way out."""
    damaged = bytearray(TWO)
    damaged[100] ^= 1
    damaged[SLOT + 100] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StoreRefused) as caught:
        held(path)
    assert str(caught.value) == f"guard {path}: damaged; only `sealedshoe recover` goes on"
    assert Guard(path).read_or_none() is None


STRANGE = {
    "another format": slot(2, head_text(20), form="sealedshoe/v2/guard"),
    "another state": slot(2, head_text(20), state="closed"),
    "no counter": slot("", head_text(20)),
    "a negative counter": slot(-2, head_text(20)),
    "no head": slot(2, ""),
    "a head of a negative size": slot(2, head_text(-20)),
    "a short root": slot(2, head_text(20, b"r" * 31)),
    "no text": bytes(SLOT),
    "bytes that are no text": slot(2, head_text(20)).replace(b"open", b"\xff\xff\xff\xff"),
    "half a slot": SECOND[: SLOT // 2],
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_slot_that_is_no_slot_is_passed_over(path: Path, name: str) -> None:
    """Even under a digest that fits it."""
    path.write_bytes(STRANGE[name].ljust(SLOT, b"\0") + FIRST)
    assert held(path) == (1, "open", 10)


@given(data=st.binary(max_size=100) | st.binary(min_size=SLOT, max_size=SLOT + 8))
@settings(max_examples=60, deadline=None)
def test_no_bytes_are_read_as_a_head(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Only nothing at all is no guard; everything else is refused."""
    path = tmp_path_factory.mktemp("guard") / "guard"
    path.write_bytes(data)
    if data:
        with pytest.raises(StoreRefused, match="damaged"):
            held(path)
    else:
        assert held(path) is None


def test_a_guard_that_cannot_be_read_is_refused(path: Path) -> None:
    """For a log that ends anyway it is as good as none."""
    path.mkdir()
    with pytest.raises(StoreRefused) as caught:
        held(path)
    assert str(caught.value) == f"guard {path}: Is a directory"
    assert Guard(path).read_or_none() is None
