"""An archive of heads: every note verbatim, in order, and whole again after any crash."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.keeping.head_archive import STEP_BYTES, TAIL_BYTES, HeadArchive, split_notes
from sealedshoe_audit.log.note import cosignature_line, sign_note
from tests.audit.forge.log import key

ORIGIN = "log.example/heads"


def head(size: int, witnesses: int = 0) -> bytes:
    """Returns a signed head with so many cosignatures; its root matters to nobody here."""
    text = f"{ORIGIN}\n{size}\n{'A' * 43}=\n"
    lines = [cosignature_line(text, f"w{n}", key(20 + n), size) for n in range(witnesses)]
    return sign_note(text, ORIGIN, key(3)) + "".join(lines).encode()


HEADS = [head(n, n % 4) for n in range(12)]


def archive(path: Path, *notes: bytes) -> HeadArchive:
    """Returns an archive in a file that holds these notes."""
    made = HeadArchive(path / "heads")
    made.keep(notes)
    return made


def test_heads_are_kept_verbatim_and_in_order(tmp_path: Path) -> None:
    kept = archive(tmp_path, *HEADS[:5])
    kept.keep(HEADS[5:])
    assert (tmp_path / "heads").read_bytes() == b"".join(HEADS)
    assert list(kept.read()) == HEADS
    assert kept.size == sum(map(len, HEADS))


def test_an_archive_that_was_never_written_holds_nothing(tmp_path: Path) -> None:
    assert list(HeadArchive(tmp_path / "heads").read()) == []


def test_an_archive_makes_its_directory(tmp_path: Path) -> None:
    kept = HeadArchive(tmp_path / "a" / "b" / "heads")
    kept.keep(HEADS[:1], sync=False)
    assert list(kept.read()) == HEADS[:1]


def test_keeping_no_head_makes_no_file(tmp_path: Path) -> None:
    archive(tmp_path)
    assert not (tmp_path / "heads").exists()


def test_a_head_that_repeats_the_last_is_left_out_also_after_a_restart(tmp_path: Path) -> None:
    a, b = HEADS[:2]
    archive(tmp_path, a, a, b, b).keep([b, b])
    again = HeadArchive(tmp_path / "heads")
    again.keep([b])
    assert list(again.read()) == [a, b]
    again.keep([a])
    assert list(again.read()) == [a, b, a]


@pytest.mark.parametrize("torn", range(1, len(HEADS[3])))
def test_a_note_torn_at_any_byte_is_not_read_and_the_next_writer_cuts_it_off(
    tmp_path: Path, torn: int
) -> None:
    path = tmp_path / "heads"
    path.write_bytes(HEADS[0] + HEADS[1] + HEADS[3][:torn])
    found = list(HeadArchive(path).read())
    assert found[:2] == HEADS[:2]
    # Cut where signature lines end, the note is whole with fewer of them; further in, it is not.
    lines = HEADS[3][: HEADS[3].rfind(b"\n", 0, torn) + 1]
    fewer = [lines] if "— ".encode() in lines else []
    assert found[2:] in ([], fewer)
    assert found[2:] == fewer or len(lines) < torn
    HeadArchive(path).keep([HEADS[5]])
    assert list(HeadArchive(path).read()) == [*found, HEADS[5]]


@pytest.mark.parametrize("rest", [1, 5000, TAIL_BYTES - 4000])
def test_zeros_that_a_crash_left_at_the_end_are_cut_off(tmp_path: Path, rest: int) -> None:
    path = tmp_path / "heads"
    path.write_bytes(b"".join(HEADS) + bytes(rest))
    HeadArchive(path).keep([head(99)])
    assert list(HeadArchive(path).read()) == [*HEADS, head(99)]


def test_more_zeros_than_the_tail_are_cut_off_too(tmp_path: Path) -> None:
    path = tmp_path / "heads"
    path.write_bytes(b"".join(HEADS) + bytes(TAIL_BYTES + 1))
    HeadArchive(path).keep([head(99)])
    assert list(HeadArchive(path).read()) == [*HEADS, head(99)]


def test_a_writer_that_only_looks_at_the_end_of_a_long_archive_cuts_the_right_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "heads"
    many = [head(n, n % 8) for n in range(400)]
    assert sum(map(len, many)) > 2 * TAIL_BYTES
    for shift in range(0, 1400, 97):
        path.write_bytes(b"".join(many) + head(500, 8)[:shift])
        kept = HeadArchive(path)
        kept.keep([head(501)])
        found = list(kept.read())
        assert found[:400] == many
        assert found[-1] == head(501)
        assert kept.size == path.stat().st_size


def test_notes_between_two_offsets_are_read_without_the_others(tmp_path: Path) -> None:
    kept = archive(tmp_path, *HEADS)
    ends = [sum(map(len, HEADS[:n])) for n in range(len(HEADS) + 1)]
    for first in range(len(HEADS)):
        for last in range(first, len(HEADS) + 1):
            found, _ = kept.read_between(ends[first], ends[last])
            assert found == HEADS[first:last]


def test_a_step_ends_at_a_note_and_the_next_goes_on_there(tmp_path: Path) -> None:
    many = [head(n, n % 8) for n in range(700)]
    kept = archive(tmp_path, *many)
    start, found = 0, list[bytes]()
    assert kept.size > STEP_BYTES
    while start < kept.size:
        step, _ = kept.read_between(start, kept.size)
        assert step
        start += sum(map(len, step))
        found += step
    assert found == many


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
def test_an_archive_of_any_bytes_yields_the_notes_before_them(rest: bytes) -> None:
    data = HEADS[0] + HEADS[1] + b"\n" + rest
    assert list(split_notes(data.splitlines(keepends=True)))[:2] == HEADS[:2]


def test_damage_longer_than_a_step_stops_no_reader_of_steps(tmp_path: Path) -> None:
    """Each step goes on, and what stands behind the damaged note comes."""
    path = tmp_path / "heads"
    path.write_bytes(HEADS[1] + b"\0" * (STEP_BYTES + 100) + b"\n" + HEADS[2] + HEADS[3])
    end, start = path.stat().st_size, 0
    found: list[bytes] = []
    while start < end:
        notes, following = HeadArchive(path).read_between(start, end)
        assert following > start
        found += notes
        start = following
    assert found[-1] == HEADS[3]
