"""A witness cosigns what extends the last head it saw, remembers it first, and keeps what contradicts it."""

import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.log.checkpoint import Checkpoint, verify_checkpoint
from sealedshoe_audit.log.note import VerifierKey, parse_note, sign_note, verify_signers
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.witness.decision import Refused, decide, open_submission
from sealedshoe_audit.witness.store import WitnessStore
from sealedshoe_audit.witness.witness import Witness
from tests.audit.forge.log import public
from tests.audit.log.example import (
    CHECKPOINT,
    EXAMPLE,
    LOG_KEY,
    LOG_LINE,
    TEXT,
    WITNESS_LINE,
    WITNESS_PRIVATE,
)
from tests.audit.log.example import ORIGIN as EXAMPLE_ORIGIN
from tests.audit.log.reference import NaiveTree
from tests.audit.witness_requests import (
    FORK,
    LOG,
    LOG_KEYS,
    NAME,
    ORIGIN,
    SECOND,
    STRANGER,
    TREE,
    WITNESS,
    Clock,
    b64,
    body,
    close_all,
    cosigned_at,
    head,
    head_text,
    open_witness,
    opened,
    request,
    rows,
)

LAST = 10
EMPTY = sha256(b"").digest()
Answer = tuple[int, str, str]
PLAIN, SIZE = "text/plain; charset=utf-8", "text/x.tlog.size"


def ask(witness: Witness, data: bytes) -> Answer:
    """Returns status, body and content type, a cosignature's own left out."""
    refused, line = witness.add_checkpoint(data)
    if refused is None:
        return 200, line, ""
    assert line == ""
    return refused.status, refused.body, refused.content_type


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    """A witness that has cosigned the first ten leaves."""
    made, _ = open_witness(tmp_path / "w.db")
    assert ask(made, request(0, LAST))[0] == 200
    return made


def signed(text: str) -> bytes:
    """Returns any text signed by the log."""
    return sign_note(text, ORIGIN, LOG)


def broken_signature() -> bytes:
    """Returns a head on which the log's line signs something else."""
    other = head(LAST + 2).rpartition(b"\n\n")[2]
    return head(LAST + 1).rpartition(b"\n\n")[0] + b"\n\n" + other


P = TREE.proof(LAST, 30)
TABLE = {
    "nothing": (b"", 400),
    "not a request": (b"hello\n", 400),
    "a proof that is no base64": (b"old 10\n!\n\n" + head(30), 400),
    "64 hashes": (body(LAST, head(30), [bytes(32)] * 64), 400),
    "no signature lines": (b"old 10\n\n" + head_text(30, TREE.root(30)).encode(), 400),
    "a size that is no number": (body(LAST, signed(head_text("x", bytes(32)))), 400),
    "a size with a leading zero": (body(LAST, signed(head_text("030", TREE.root(30)))), 400),
    "a root of 31 bytes": (body(LAST, signed(head_text(30, bytes(31)))), 400),
    "an unknown origin": (body(LAST, head(30, origin="other.example"), P), 404),
    "an unknown origin, signed by the log": (body(0, head(30, private=LOG, origin="o"), []), 404),
    "a stranger's signature under the log's name": (body(LAST, head(30, private=STRANGER), P), 403),
    "the log's key on another text": (body(LAST, broken_signature(), []), 403),
    "the log's line twice": (body(LAST, head(30) + head(30).split(b"\n\n")[1], P), 403),
    "old beyond the checkpoint": (body(LAST + 1, head(LAST), []), 400),
    "old beyond a smaller checkpoint": (body(LAST, head(5), []), 400),
    "old before the last": (body(5, head(30), TREE.proof(5, 30)), 409),
    "old 0, as if new": (body(0, head(30), []), 409),
    "old 0 for the last head itself": (body(0, head(LAST), []), 409),
    "old behind the last": (body(11, head(30), TREE.proof(11, 30)), 409),
    "an empty tree with a root of its own": (body(0, signed(head_text(0, bytes(32))), []), 422),
    "no proof": (body(LAST, head(30), []), 422),
    "a hash missing": (body(LAST, head(30), P[:-1]), 422),
    "a hash more": (body(LAST, head(30), [*P, bytes(32)]), 422),
    "hashes in another order": (body(LAST, head(30), P[::-1]), 422),
    "a hash changed": (body(LAST, head(30), [bytes(32), *P[1:]]), 422),
    "another size's proof": (body(LAST, head(30), TREE.proof(9, 30)), 422),
    "another root": (body(LAST, signed(head_text(30, bytes(32))), P), 422),
    "another root at the last size": (body(LAST, signed(head_text(LAST, bytes(32))), []), 422),
    "the last size with a proof": (body(LAST, head(LAST), [bytes(32)]), 422),
}


EXTENDED = head_text(30, TREE.root(30)) + "an extension of another log\n"


def test_extension_lines_of_other_logs_are_cosigned_as_part_of_the_text(witness: Witness) -> None:
    status, line, _ = ask(witness, body(LAST, signed(EXTENDED), P))
    assert status == 200
    note = parse_note(f"{EXTENDED}\n{line}".encode())
    assert verify_signers(note, [witness.vkey])
    assert ask(witness, request(30, 40))[0] == 200  # goes on from the head without them


def test_an_empty_extension_line_is_refused(witness: Witness) -> None:
    assert ask(witness, body(LAST, signed(EXTENDED + "\n"), P))[0] == 400


@pytest.mark.parametrize(("data", "status"), TABLE.values(), ids=TABLE.keys())
def test_a_request_is_refused_with_the_specifications_status_and_changes_nothing(
    witness: Witness, data: bytes, status: int
) -> None:
    found, text, content_type = ask(witness, data)
    assert found == status
    assert (content_type, text) == (SIZE, "10\n") if status == 409 else content_type == PLAIN
    assert ask(witness, request(LAST, 30))[0] == 200


def test_a_conflict_before_the_first_head_tells_a_size_of_zero(tmp_path: Path) -> None:
    fresh, _ = open_witness(tmp_path / "w.db")
    assert ask(fresh, request(5, 10)) == (409, "0\n", SIZE)


def test_a_first_head_with_a_proof_is_refused(tmp_path: Path) -> None:
    fresh, _ = open_witness(tmp_path / "w.db")
    assert ask(fresh, body(0, head(10), [bytes(32)]))[0] == 422


def test_an_empty_tree_is_cosigned_and_grows(tmp_path: Path) -> None:
    fresh, _ = open_witness(tmp_path / "w.db")
    assert TREE.root(0) == EMPTY
    assert [ask(fresh, request(0, size))[0] for size in (0, 0, 3)] == [200, 200, 200]
    assert ask(fresh, request(0, 4)) == (409, "3\n", SIZE)


NOT_OURS = {
    "of an unknown log": (sign_note(head_text(0, bytes(32), "o"), "o", STRANGER), 404),
    "that a stranger signed": (sign_note(head_text(0, bytes(32)), ORIGIN, STRANGER), 403),
}


@pytest.mark.parametrize(("note", "status"), NOT_OURS.values(), ids=NOT_OURS.keys())
def test_an_empty_tree_with_a_root_of_its_own_is_no_alarm_where_it_is_not_the_logs(
    witness: Witness, note: bytes, status: int
) -> None:
    assert ask(witness, body(0, note))[0] == status


def test_the_worked_examples_cosignature_is_made_to_the_byte(tmp_path: Path) -> None:
    store = opened(WitnessStore(tmp_path / "w.db"))
    clock = Clock(EXAMPLE["witness"]["time"])
    name: str = EXAMPLE["witness"]["name"]
    made = Witness(name, WITNESS_PRIVATE, {EXAMPLE_ORIGIN: [LOG_KEY]}, store, clock)
    note = f"{TEXT}\n".encode() + LOG_LINE
    assert made.vkey.text() == EXAMPLE["witness"]["vkey"]
    assert ask(made, body(0, note)) == (200, WITNESS_LINE.decode(), "")
    assert made.checkpoint(EXAMPLE["origin_hash"]) == CHECKPOINT


def test_a_cosignature_is_over_the_whole_text_at_the_witnesss_time(tmp_path: Path) -> None:
    clock = Clock()
    made, _ = open_witness(tmp_path / "w.db", clock)
    for old, new in [(0, 1), (1, 7), (7, 7), (7, 8), (8, 60)]:
        clock.now_s += 3
        status, line, _ = ask(made, request(old, new))
        assert status == 200
        text = head_text(new, TREE.root(new))
        assert cosigned_at(line, text, NAME, public(WITNESS)) == clock.now_s


def test_the_last_head_is_cosigned_again_with_a_fresh_time(tmp_path: Path) -> None:
    clock = Clock(100)
    made, _ = open_witness(tmp_path / "w.db", clock)
    ask(made, request(0, 10))
    clock.now_s = 200
    line = ask(made, request(10, 10))[1]
    assert cosigned_at(line, head_text(10, TREE.root(10)), NAME, public(WITNESS)) == 200


def test_both_keys_of_a_rotation_are_the_logs(witness: Witness) -> None:
    proof = TREE.proof(LAST, 30)
    assert ask(witness, body(LAST, head(30, private=SECOND), proof))[0] == 200


def test_lines_of_unknown_keys_on_a_checkpoint_are_ignored(witness: Witness) -> None:
    unknown = sign_note(head_text(30, TREE.root(30)), "else.example", STRANGER).split(b"\n\n")[1]
    assert ask(witness, body(LAST, head(30) + unknown, P))[0] == 200


def test_logs_are_remembered_apart(tmp_path: Path) -> None:
    other = "other.example/log"
    logs = {ORIGIN: LOG_KEYS, other: [VerifierKey(other, 1, public(LOG))]}
    made = Witness(NAME, WITNESS, logs, opened(WitnessStore(tmp_path / "w.db")), Clock())
    assert ask(made, request(0, 10))[0] == 200
    assert ask(made, body(0, head(3, FORK, LOG, other)))[0] == 200
    assert ask(made, request(3, 20)) == (409, "10\n", SIZE)
    assert made.checkpoint(sha256(other.encode()).hexdigest()).startswith(f"{other}\n3\n".encode())


def test_two_histories_of_one_size_leave_the_second_as_a_proof(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    clock = Clock(500)
    made, store = open_witness(path, clock)
    ask(made, request(0, 30))
    forked = head(30, FORK)
    refused, _ = made.add_checkpoint(body(30, forked))
    assert refused is not None
    assert (refused.status, refused.fork) == (422, True)
    assert store.forks() == [forked]
    assert rows(path, "forks") == [(ORIGIN, 30, 500, forked)]
    store.close()
    again, kept = open_witness(path)
    assert kept.forks() == [forked]
    assert ask(again, request(30, 31))[0] == 200


def test_a_head_that_only_fails_its_proof_is_no_fork(witness: Witness) -> None:
    refused, _ = witness.add_checkpoint(body(LAST, head(30), []))
    assert refused is not None
    assert not refused.fork


def test_a_strangers_head_of_the_last_size_is_no_fork(tmp_path: Path) -> None:
    made, store = open_witness(tmp_path / "w.db")
    ask(made, request(0, 30))
    ask(made, body(30, head(30, FORK, STRANGER)))
    assert store.forks() == []


def test_every_cosigned_head_is_kept_with_its_cosignature(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    made, _ = open_witness(path)
    whole = []
    for old, new in [(0, 5), (5, 9), (9, 40)]:
        line = ask(made, request(old, new))[1]
        whole.append((ORIGIN, new, Clock().now_s, head(new) + line.encode()))
    assert rows(path, "cosigned") == whole


def test_what_was_cosigned_is_remembered_before_the_answer_leaves(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    made, _ = open_witness(path)
    for old, new in [(0, 5), (5, 9), (9, 40)]:
        line = ask(made, request(old, new))[1]
        other, store = open_witness(path)  # the first is not closed: it may have been killed here
        assert ask(other, request(0, 1)) == (409, f"{new}\n", SIZE)
        assert store.note(ORIGIN) == head(new) + line.encode()
        store.close()


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
def test_a_refusal_remembers_nothing_of_the_head(tmp_path: Path, status: int) -> None:
    path = tmp_path / "w.db"
    made, store = open_witness(path)
    ask(made, request(0, LAST))
    before = rows(path, "cosigned")
    for data, expected in TABLE.values():
        if expected == status:
            ask(made, data)
    assert rows(path, "cosigned") == before
    assert store.note(ORIGIN) == before[0][3]


class LateStore(WitnessStore):
    """A memory in which another request is faster, once, between reading and replacing."""

    def __init__(self, path: Path, other: bytes) -> None:
        super().__init__(path)
        self._path, self._other = path, other

    def last(self, origin: str) -> Checkpoint | None:
        """Returns the head cosigned last, and lets the other request in behind it."""
        found = super().last(origin)
        if self._other:
            other, self._other = self._other, b""
            faster, store = open_witness(self._path)
            assert ask(faster, other)[0] == 200
            store.close()
        return found


@pytest.mark.parametrize("faster", [request(10, 20), request(10, 40, FORK)])
def test_a_request_that_another_overtook_is_not_cosigned(tmp_path: Path, faster: bytes) -> None:
    path = tmp_path / "w.db"
    first, store = open_witness(path)
    ask(first, request(0, 10))
    store.close()
    late = opened(LateStore(path, faster))
    made = Witness(NAME, WITNESS, {ORIGIN: LOG_KEYS}, late, Clock())
    status, text, _ = ask(made, request(10, 30))
    assert status == 429
    assert "—" not in text
    assert len(rows(path, "cosigned")) == 2
    assert ask(made, request(10, 30))[0] == 409


def test_of_two_first_heads_only_the_faster_is_cosigned(tmp_path: Path) -> None:
    late = opened(LateStore(tmp_path / "w.db", request(0, 30, FORK)))
    made = Witness(NAME, WITNESS, {ORIGIN: LOG_KEYS}, late, Clock())
    assert ask(made, request(0, 30))[0] == 429
    assert ask(made, request(0, 30)) == (409, "30\n", SIZE)


def test_a_memory_that_cannot_be_written_leaves_no_cosignature(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    made, _ = open_witness(path)
    ask(made, request(0, 10))
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(
        "CREATE TRIGGER full BEFORE INSERT ON cosigned BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(sqlite3.Error, match="full"):
        made.add_checkpoint(request(10, 20))
    db.execute("DROP TRIGGER full")
    db.close()
    assert ask(made, request(10, 20))[0] == 200


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    path.write_bytes(b"not a database, and long enough to be looked at" * 100)
    with pytest.raises(sqlite3.Error):
        open_witness(path)


def readable(note: bytes | None) -> bool:
    """Whether a reader who trusts the log and the witness takes a checkpoint."""
    assert note is not None
    trust = Trust(ORIGIN, bytes(32), tuple(LOG_KEYS), (VerifierKey(NAME, 4, public(WITNESS)),), 1)
    return verify_checkpoint(note, trust).cosigned.keys() == {NAME}


def test_the_newest_cosigned_checkpoint_is_there_for_readers(witness: Witness) -> None:
    origin_hash = sha256(ORIGIN.encode()).hexdigest()
    ask(witness, request(LAST, 30))
    assert readable(witness.checkpoint(origin_hash))
    assert witness.checkpoint("0" * 64) is None


def test_a_known_log_that_was_never_cosigned_has_no_checkpoint(tmp_path: Path) -> None:
    fresh, _ = open_witness(tmp_path / "w.db")
    assert fresh.checkpoint(sha256(ORIGIN.encode()).hexdigest()) is None


def test_a_refreshed_checkpoint_that_bore_the_witnesss_own_line_stays_readable(
    witness: Witness,
) -> None:
    origin_hash = sha256(ORIGIN.encode()).hexdigest()
    cosigned = witness.checkpoint(origin_hash)
    assert cosigned is not None
    assert ask(witness, body(LAST, cosigned))[0] == 200
    assert readable(witness.checkpoint(origin_hash))


def test_a_checkpoint_with_sixteen_lines_stays_readable_once_cosigned(witness: Witness) -> None:
    lines = [f"— u{n} {b64(bytes(68))}\n" for n in range(15)]
    assert ask(witness, body(LAST, head(30) + "".join(lines).encode(), P))[0] == 200
    assert readable(witness.checkpoint(sha256(ORIGIN.encode()).hexdigest()))


def test_replaying_one_head_in_the_same_second_fills_no_disk(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    made, _ = open_witness(path)
    ask(made, request(0, 10))
    for _ in range(5):
        ask(made, request(10, 10))
    assert len(rows(path, "cosigned")) == 1


def status_after(data: bytes, last: Checkpoint | None) -> int:
    """Returns the status that a body has behind a last head."""
    submission = open_submission(data, {ORIGIN: LOG_KEYS})
    found = submission if isinstance(submission, Refused) else decide(submission, last)
    return found.status if isinstance(found, Refused) else 200


STEP = st.tuples(st.integers(0, 12), st.integers(0, 12), st.booleans())


@settings(deadline=None, max_examples=150)
@given(st.lists(STEP, max_size=8))
def test_decisions_are_those_of_the_specifications_table(
    steps: list[tuple[int, int, bool]],
) -> None:
    short = NaiveTree([b"forged", *TREE.entries[1:12]])
    last: Checkpoint | None = None
    history = TREE
    for old, new, forked in steps:
        tree = short if forked else TREE
        found = status_after(request(old, new, tree), last)
        size = 0 if last is None else last.size
        if old > new:
            expected = 400
        elif old != size:
            expected = 409
        elif size and tree is not history:
            expected = 422
        else:
            expected = 200
            last, history = Checkpoint(ORIGIN, new, tree.root(new)), tree
        assert found == expected


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=80), st.integers(0, 500), st.integers(0, 60))
def test_any_damage_to_a_request_is_a_refusal(put: bytes, at: int, cut: int) -> None:
    good = request(LAST, 30)
    data = good[:at] + put + good[at + cut :]
    status = status_after(data, Checkpoint(ORIGIN, LAST, TREE.root(LAST)))
    if not data.startswith(good):
        assert status in (200, 400, 403, 404, 409, 422)
        unchanged = data.split(b"\n\n")[:2] == good.split(b"\n\n")[:2]
        assert status != 200 or unchanged
