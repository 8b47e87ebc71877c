"""Proof files: one canonical text that shows a leaf in a trusted log, offline."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import sign_note
from sealedshoe_audit.log.proof_file import ProofFile, parse_proof, verify_proof
from sealedshoe_audit.trust import Trust
from tests.audit.forge.log import ForgedLog
from tests.audit.log.example import CHECKPOINT, EXAMPLE, LOG_PRIVATE, ORIGIN, TRUST, TRUST_LOG_ONLY
from tests.audit.log.reference import TREE

ENTRY = EXAMPLE["entries"][1].encode()
HASHES: list[str] = EXAMPLE["inclusion"][0]["proof"]
PROOF = f"c2sp.org/tlog-proof@v1\nindex 1\n{HASHES[0]}\n{HASHES[1]}\n\n".encode() + CHECKPOINT


def problem(data: bytes, entry: bytes = ENTRY, trust: Trust = TRUST) -> Code | None:
    """What is wrong with a proof file of an entry, if anything."""
    try:
        verify_proof(parse_proof(data), entry, trust)
    except VerificationError as error:
        return error.code
    return None


def test_the_worked_examples_proof_is_read_and_holds() -> None:
    proof = parse_proof(PROOF)
    assert proof.index == 1
    assert proof.path == tuple(base64.b64decode(line) for line in HASHES)
    assert proof.checkpoint == CHECKPOINT
    assert proof.extra is None
    head = verify_proof(proof, ENTRY, TRUST)
    assert head.checkpoint.size == 3
    assert head.cosigned == {EXAMPLE["witness"]["name"]: EXAMPLE["witness"]["time"]}


def test_the_worked_examples_proof_is_written_to_the_byte() -> None:
    path = tuple(base64.b64decode(line) for line in HASHES)
    assert ProofFile(1, path, CHECKPOINT).data() == PROOF


def test_extra_data_is_kept_and_proves_nothing() -> None:
    with_extra = PROOF.replace(b"\nindex", b"\nextra aGVsbG8=\nindex")
    assert parse_proof(with_extra).extra == b"hello"
    assert parse_proof(with_extra).data() == with_extra
    assert problem(with_extra) is None
    assert problem(with_extra.replace(b"aGVsbG8=", b"b3RoZXI=")) is None


def test_empty_extra_data_is_not_the_same_as_none() -> None:
    empty = PROOF.replace(b"\nindex", b"\nextra \nindex")
    assert parse_proof(empty).extra == b""
    assert parse_proof(empty).data() == empty


def test_every_leaf_of_a_tree_has_a_proof_and_no_other_index_does() -> None:
    size = 70
    root = base64.b64encode(TREE.root(size)).decode()
    note = sign_note(f"{ORIGIN}\n{size}\n{root}\n", ORIGIN, LOG_PRIVATE)
    for index in range(size):
        path = tuple(TREE.path(index, 0, size))
        entry = TREE.entries[index]
        good = ProofFile(index, path, note)
        assert problem(good.data(), entry, TRUST_LOG_ONLY) is None
        for other in {index ^ 1, (index + 1) % size, size - 1 - index} - {index}:
            moved = ProofFile(other, path, note).data()
            assert problem(moved, entry, TRUST_LOG_ONLY) is Code.INCLUSION


def test_a_log_of_one_leaf_needs_no_hashes() -> None:
    log = ForgedLog()
    data = b"c2sp.org/tlog-proof@v1\nindex 0\n\n" + log.note()
    assert parse_proof(data).path == ()
    assert problem(data, log.entries[0], log.trust()) is None
    assert problem(data, log.entries[0] + b"\0", log.trust()) is Code.INCLUSION


LINE0, LINE1 = (f"{line}\n".encode() for line in HASHES)
NOT_PROVED = {
    "another entry": (PROOF, b"round=1 close", Code.INCLUSION),
    "no entry": (PROOF, b"", Code.INCLUSION),
    "another index": (PROOF.replace(b"index 1", b"index 2"), ENTRY, Code.INCLUSION),
    "an index beyond the tree": (PROOF.replace(b"index 1", b"index 3"), ENTRY, Code.INCLUSION),
    "hashes swapped": (PROOF.replace(LINE0 + LINE1, LINE1 + LINE0), ENTRY, Code.INCLUSION),
    "a hash missing": (PROOF.replace(LINE1, b""), ENTRY, Code.INCLUSION),
    "a hash more": (PROOF.replace(LINE1, LINE1 + LINE1), ENTRY, Code.INCLUSION),
    "a root changed": (PROOF.replace(b"Th2I", b"Th2J"), ENTRY, Code.NOTE_SIGNATURE),
    "another origin": (PROOF.replace(b"\nrng.", b"\nrnG."), ENTRY, Code.ORIGIN_MISMATCH),
    "no cosignature": (PROOF[: PROOF.rindex("—".encode())], ENTRY, Code.QUORUM),
}


@pytest.mark.parametrize(("data", "entry", "code"), NOT_PROVED.values(), ids=NOT_PROVED.keys())
def test_a_proof_of_something_else_is_refused(data: bytes, entry: bytes, code: Code) -> None:
    assert problem(data, entry) is code


NOT_CANONICAL = {
    "nothing": b"",
    "the header alone": b"c2sp.org/tlog-proof@v1\n",
    "no index": PROOF.replace(b"index 1\n", b""),
    "another version": PROOF.replace(b"@v1", b"@v2"),
    "no header": PROOF.removeprefix(b"c2sp.org/tlog-proof@v1\n"),
    "no checkpoint": PROOF[: -len(CHECKPOINT)],
    "no empty line": PROOF.replace(LINE1 + b"\n", LINE1),
    "carriage returns": PROOF.replace(b"\n", b"\r\n"),
    "a leading zero": PROOF.replace(b"index 1", b"index 01"),
    "a plus sign": PROOF.replace(b"index 1", b"index +1"),
    "a negative index": PROOF.replace(b"index 1", b"index -1"),
    "a space behind the index": PROOF.replace(b"index 1", b"index 1 "),
    "an index of 20 digits": PROOF.replace(b"index 1", b"index 1" + b"0" * 19),
    "extra behind the index": PROOF.replace(b"index 1\n", b"index 1\nextra aGVsbG8=\n"),
    "extra twice": PROOF.replace(b"\nindex", b"\nextra aA==\nextra aA==\nindex"),
    "extra that is no base64": PROOF.replace(b"\nindex", b"\nextra aGVsbG8\nindex"),
    "extra with loose bits": PROOF.replace(b"\nindex", b"\nextra aB==\nindex"),
    "a hash without padding": PROOF.replace(LINE0, LINE0.replace(b"=", b"")),
    "a hash with loose bits": PROOF.replace(b"7oE=", b"7oF="),
    "a hash of 31 bytes": PROOF.replace(LINE0, base64.b64encode(bytes(31)) + b"\n"),
    "a hash of 33 bytes": PROOF.replace(LINE0, base64.b64encode(bytes(33)) + b"\n"),
    "a hash with a space": PROOF.replace(LINE0, b" " + LINE0),
    "64 hashes": PROOF.replace(LINE0, LINE0 * 63),
    "bytes that are no ASCII": PROOF.replace(LINE0, "é\n".encode()),
    "too long": PROOF.replace(b"\nindex", b"\nextra " + b"AAAA" * 6144 + b"\nindex"),
}


@pytest.mark.parametrize("data", NOT_CANONICAL.values(), ids=NOT_CANONICAL.keys())
def test_a_proof_file_in_any_other_form_is_refused(data: bytes) -> None:
    assert problem(data) is Code.PARSE


def test_63_hashes_are_read() -> None:
    assert len(parse_proof(PROOF.replace(LINE0, LINE0 * 62)).path) == 63


HASH = st.binary(min_size=32, max_size=32)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**19 - 1), st.lists(HASH, max_size=63), st.none() | st.binary(max_size=200))
def test_every_proof_is_read_back_as_written(
    index: int, path: list[bytes], extra: bytes | None
) -> None:
    proof = ProofFile(index, tuple(path), CHECKPOINT, extra)
    assert parse_proof(proof.data()) == proof


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=100), st.integers(0, len(PROOF)), st.integers(0, 60))
def test_a_damaged_proof_is_refused_or_the_same(put: bytes, at: int, cut: int) -> None:
    data = PROOF[:at] + put + PROOF[at + cut :]
    assert parsed(data) in (Code.PARSE, data)


def parsed(data: bytes) -> bytes | Code:
    """Returns a proof file as it is written again, or why it is none."""
    try:
        return parse_proof(data).data()
    except VerificationError as error:
        return error.code
