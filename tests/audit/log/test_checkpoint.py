"""Checkpoints: the worked example verifies, and no damaged note does."""

import base64
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import (
    Checkpoint,
    is_origin,
    parse_checkpoint,
    verify_checkpoint,
)
from sealedshoe_audit.log.merkle import leaf_hash, verify_consistency, verify_inclusion
from sealedshoe_audit.log.note import VerifierKey, cosigned_message, sign_note, signature_line
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.trust import Trust
from tests.audit.log.example import (
    CHECKPOINT,
    EXAMPLE,
    LOG_KEY,
    LOG_LINE,
    LOG_PRIVATE,
    ORIGIN,
    TEXT,
    TRUST,
    TRUST_LOG_ONLY,
    WITNESS_KEY,
    WITNESS_LINE,
)

ROOT = bytes.fromhex(EXAMPLE["roots"]["3"])
ROOT_LINE = base64.b64encode(ROOT).decode()
EMPTY_LINE = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
PRIVATE_2 = Ed25519PrivateKey.from_private_bytes(b"2" * 32)
WITNESS_2 = VerifierKey("witness.example/w2", 4, public_bytes(PRIVATE_2))


def finding(data: bytes, trust: Trust) -> Code | None:
    """What the check of a signed checkpoint finds wrong, if anything."""
    try:
        verify_checkpoint(data, trust)
    except VerificationError as error:
        return error.code
    return None


def signed(text: str) -> bytes:
    """A checkpoint's text signed by the example's log key."""
    return sign_note(text, ORIGIN, LOG_PRIVATE)


def cosignature(key: VerifierKey, private_key: Ed25519PrivateKey, time_s: int) -> bytes:
    """A witness's line under the example's text."""
    blob = time_s.to_bytes(8, "big") + private_key.sign(cosigned_message(TEXT, time_s))
    return signature_line(key.name, key.id, blob).encode()


def test_the_worked_example_verifies_with_its_cosignature() -> None:
    verified = verify_checkpoint(CHECKPOINT, TRUST)
    assert verified.checkpoint == Checkpoint(ORIGIN, 3, ROOT)
    assert verified.cosigned == {"witness.example/w1": 1767225600}
    assert verified.checkpoint.text() == TEXT


def test_the_worked_examples_hashes_and_proofs_verify() -> None:
    leaves = [leaf_hash(entry.encode()) for entry in EXAMPLE["entries"]]
    roots = {int(size): bytes.fromhex(root) for size, root in EXAMPLE["roots"].items()}
    assert [leaf.hex() for leaf in leaves] == EXAMPLE["leaf_hashes"]
    for case in EXAMPLE["inclusion"]:
        path = [base64.b64decode(line) for line in case["proof"]]
        verify_inclusion(case["index"], case["size"], leaves[case["index"]], path, roots[3])
    for case in EXAMPLE["consistency"]:
        path = [base64.b64decode(line) for line in case["proof"]]
        old, new = case["old"], case["new"]
        verify_consistency(old, new, roots[old], roots[new], path)


def test_without_trusted_witnesses_their_lines_are_ignored() -> None:
    assert verify_checkpoint(CHECKPOINT, TRUST_LOG_ONLY).cosigned == {}
    assert verify_checkpoint(signed(TEXT), TRUST_LOG_ONLY).cosigned == {}


@pytest.mark.parametrize(
    ("witnesses", "quorum", "lines", "found"),
    [
        (1, 1, [], Code.QUORUM),
        (1, 0, [], None),
        (1, 1, [1], None),
        (2, 2, [1], Code.QUORUM),
        (2, 2, [2], Code.QUORUM),
        (2, 1, [2], None),
        (2, 2, [1, 2], None),
        (2, 2, [2, 1], None),
        (1, 1, [2], Code.QUORUM),
        (1, 1, [1, 1], Code.NOTE_SIGNATURE),
    ],
)
def test_a_quorum_of_trusted_witnesses_is_needed(
    witnesses: int, quorum: int, lines: list[int], found: Code | None
) -> None:
    trust = replace(TRUST, witnesses=(WITNESS_KEY, WITNESS_2)[:witnesses], quorum=quorum)
    texts = {1: WITNESS_LINE, 2: cosignature(WITNESS_2, PRIVATE_2, 1767225601)}
    assert finding(signed(TEXT) + b"".join(texts[n] for n in lines), trust) is found


def test_a_witness_cannot_stand_in_for_the_log() -> None:
    assert finding(f"{TEXT}\n".encode() + WITNESS_LINE, TRUST) is Code.NOTE_SIGNATURE
    assert finding(CHECKPOINT, replace(TRUST, checkpoint_keys=())) is Code.NOTE_SIGNATURE
    as_log = replace(TRUST, checkpoint_keys=(WITNESS_KEY,))
    assert finding(CHECKPOINT, as_log) is Code.NOTE_SIGNATURE


def test_a_head_of_another_origin_is_refused_whoever_signed_it() -> None:
    other = TEXT.replace("table-7", "table-8")
    assert finding(signed(other), TRUST_LOG_ONLY) is Code.ORIGIN_MISMATCH


def test_a_head_signed_by_another_key_of_the_name_is_refused() -> None:
    assert finding(sign_note(TEXT, ORIGIN, PRIVATE_2), TRUST_LOG_ONLY) is Code.NOTE_SIGNATURE


@pytest.mark.parametrize("byte", range(len(CHECKPOINT)))
def test_no_flipped_bit_leaves_a_note_valid_when_its_witness_is_needed(byte: int) -> None:
    for bit in range(8):
        flipped = bytearray(CHECKPOINT)
        flipped[byte] ^= 1 << bit
        assert finding(bytes(flipped), TRUST) is not None


def test_a_flipped_bit_is_survived_only_in_a_line_that_is_then_ignored() -> None:
    trust = replace(TRUST, quorum=0)
    witness_from = len(CHECKPOINT) - len(WITNESS_LINE)
    survived = set()
    for byte in range(len(CHECKPOINT)):
        for bit in range(8):
            flipped = bytearray(CHECKPOINT)
            flipped[byte] ^= 1 << bit
            if finding(bytes(flipped), trust) is None:
                verified = verify_checkpoint(bytes(flipped), trust)
                assert verified.checkpoint == Checkpoint(ORIGIN, 3, ROOT)
                assert verified.cosigned == {}
                survived.add(byte - witness_from)
    name_and_id = range(4, 4 + len("witness.example/w1 IDJKvg"))
    assert survived
    assert survived <= set(name_and_id)


@pytest.mark.parametrize("cut", range(len(CHECKPOINT)))
def test_no_torn_note_is_valid_when_its_witness_is_needed(cut: int) -> None:
    assert finding(CHECKPOINT[:cut], TRUST) is not None


BAD_TEXTS: dict[str, str] = {
    "leading zero": f"{ORIGIN}\n03\n{ROOT_LINE}\n",
    "plus": f"{ORIGIN}\n+3\n{ROOT_LINE}\n",
    "minus": f"{ORIGIN}\n-3\n{ROOT_LINE}\n",
    "no size": f"{ORIGIN}\n\n{ROOT_LINE}\n",
    "hex size": f"{ORIGIN}\n0x3\n{ROOT_LINE}\n",
    "other digits": f"{ORIGIN}\n٣\n{ROOT_LINE}\n",
    "space": f"{ORIGIN}\n3 \n{ROOT_LINE}\n",
    "20-digit size": f"{ORIGIN}\n{10**19}\n{ROOT_LINE}\n",
    "extension line": f"{ORIGIN}\n3\n{ROOT_LINE}\nextension\n",
    "empty extension line": f"{ORIGIN}\n3\n{ROOT_LINE}\n\n",
    "no origin": f"\n3\n{ROOT_LINE}\n",
    "space in the origin": f"rng example\n3\n{ROOT_LINE}\n",
    "plus in the origin": f"rng+example\n3\n{ROOT_LINE}\n",
    "long origin": f"{'x' * 101}\n3\n{ROOT_LINE}\n",
    "no root": f"{ORIGIN}\n3\n",
    "no final line feed": f"{ORIGIN}\n3\n{ROOT_LINE}",
    "short root": f"{ORIGIN}\n3\n{base64.b64encode(ROOT[:31]).decode()}\n",
    "long root": f"{ORIGIN}\n3\n{base64.b64encode(ROOT + b'0').decode()}\n",
    "no padding": f"{ORIGIN}\n3\n{ROOT_LINE[:-1]}\n",
    "unused bits set": f"{ORIGIN}\n3\n{ROOT_LINE[:-2]}x=\n",
    "URL alphabet": f"{ORIGIN}\n3\n{ROOT_LINE.replace('/', '_')}\n",
    "line feed in the root": f"{ORIGIN}\n3\n{ROOT_LINE[:20]}\n{ROOT_LINE[20:]}\n",
    "empty log with a root": f"{ORIGIN}\n0\n{ROOT_LINE}\n",
}


@pytest.mark.parametrize("twin", BAD_TEXTS)
def test_a_text_of_another_form_is_no_checkpoint_even_when_it_is_signed(twin: str) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_checkpoint(BAD_TEXTS[twin])
    assert refused.value.code is Code.PARSE
    assert finding(signed(BAD_TEXTS[twin]), TRUST_LOG_ONLY) is Code.PARSE


def test_an_empty_log_has_the_empty_root() -> None:
    text = f"{ORIGIN}\n0\n{EMPTY_LINE}\n"
    assert parse_checkpoint(text).size == 0
    assert finding(signed(text), TRUST_LOG_ONLY) is None


def test_the_largest_size_is_read() -> None:
    text = f"{ORIGIN}\n{10**19 - 1}\n{ROOT_LINE}\n"
    assert parse_checkpoint(text) == Checkpoint(ORIGIN, 10**19 - 1, ROOT)


def test_an_origin_is_a_key_name_of_at_most_100_bytes() -> None:
    assert is_origin("x" * 100)
    assert not is_origin("x" * 101)
    assert not is_origin("ä" * 51)
    assert not is_origin("a b")
    assert not is_origin("")


def test_the_log_line_is_that_of_the_worked_example() -> None:
    assert signed(TEXT).endswith(b"\n\n" + LOG_LINE)
    assert LOG_KEY.name == ORIGIN
