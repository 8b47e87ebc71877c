"""Ed25519 accepts what it must and nothing else: Wycheproof and sign.input."""

from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.signing import is_signed_by, key_id, public_bytes
from tests.audit.vectors import vector_json, vector_text

WYCHEPROOF: list[tuple[str, dict[str, Any]]] = [
    (group["publicKey"]["pk"], test)
    for group in vector_json("ed25519/wycheproof_ed25519_test.json")["testGroups"]
    for test in group["tests"]
]


def sign_input() -> list[dict[str, bytes]]:
    """The cases of sign.input: PRIV, PUB, MESSAGE, SIG."""
    blocks = vector_text("ed25519/sign_input_256.txt").split("\n\n")
    return [
        {name: bytes.fromhex(value) for name, value in pairs(block)}
        for block in blocks
        if block.startswith("PRIV")
    ]


def pairs(block: str) -> list[tuple[str, str]]:
    """Splits `NAME: hex` lines."""
    lines = [line.partition(":") for line in block.splitlines()]
    return [(name, value.strip()) for name, _, value in lines]


SIGN_INPUT = sign_input()


def test_all_151_wycheproof_and_256_sign_input_cases_are_there() -> None:
    assert len(WYCHEPROOF) == 151
    assert len(SIGN_INPUT) == 256
    assert {case["result"] for _, case in WYCHEPROOF} == {"valid", "invalid"}


@pytest.mark.parametrize(
    ("key", "case"), WYCHEPROOF, ids=lambda v: str(v["tcId"]) if isinstance(v, dict) else ""
)
def test_a_signature_is_accepted_exactly_when_wycheproof_says_so(
    key: str, case: dict[str, Any]
) -> None:
    accepted = is_signed_by(
        bytes.fromhex(key), bytes.fromhex(case["sig"]), bytes.fromhex(case["msg"])
    )
    assert accepted is (case["result"] == "valid")


@pytest.mark.parametrize("case", SIGN_INPUT, ids=lambda case: case["PUB"].hex()[:8])
def test_key_and_signature_of_sign_input_come_out_and_are_accepted(case: dict[str, bytes]) -> None:
    private_key = Ed25519PrivateKey.from_private_bytes(case["PRIV"][:32])
    assert public_bytes(private_key) == case["PUB"]
    assert private_key.sign(case["MESSAGE"]) == case["SIG"]
    assert is_signed_by(case["PUB"], case["SIG"], case["MESSAGE"])
    assert not is_signed_by(case["PUB"], case["SIG"], case["MESSAGE"] + b"\0")


@pytest.mark.parametrize("bit", range(512))
def test_every_flipped_bit_of_a_signature_is_refused(bit: int) -> None:
    case = SIGN_INPUT[1]
    flipped = bytearray(case["SIG"])
    flipped[bit // 8] ^= 1 << bit % 8
    assert not is_signed_by(case["PUB"], bytes(flipped), case["MESSAGE"])


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_a_key_that_is_not_32_bytes_signed_nothing(size: int) -> None:
    case = SIGN_INPUT[1]
    key = (case["PUB"] * 2)[:size]
    assert not is_signed_by(key, case["SIG"], case["MESSAGE"])


@pytest.mark.parametrize("size", [0, 1, 32, 63, 65, 128])
def test_a_signature_that_is_not_64_bytes_is_refused(size: int) -> None:
    case = SIGN_INPUT[1]
    assert not is_signed_by(case["PUB"], (case["SIG"] * 2)[:size], case["MESSAGE"])


def test_another_key_did_not_sign_it() -> None:
    case, other = SIGN_INPUT[1], SIGN_INPUT[2]
    assert not is_signed_by(other["PUB"], case["SIG"], case["MESSAGE"])


def test_the_key_id_is_sha256_of_the_public_key() -> None:
    key = SIGN_INPUT[0]["PUB"]
    assert key_id(key) == sha256(key).digest()
    assert len(key_id(key)) == 32
