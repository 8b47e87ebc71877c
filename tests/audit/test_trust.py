"""The trust file has one form and pins keys that fit their purpose."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import VerifierKey, parse_vkey
from sealedshoe_audit.trust import Trust, parse_trust
from tests.audit.vectors import vector_json

EXAMPLE = vector_json("tlog/worked_example.json")
ROOT_KEY = bytes(range(32, 64))
LOG_KEY = parse_vkey(EXAMPLE["log"]["vkey"])
WITNESS = parse_vkey(EXAMPLE["witness"]["vkey"])
ORIGIN = EXAMPLE["origin"]
TEXT = f"""\
{{
  "checkpoint_keys": [
    "{EXAMPLE["log"]["vkey"]}"
  ],
  "format": "sealedshoe/v1/trust",
  "origin": "rng.example/table-7/audit",
  "quorum": 1,
  "root_key": "{ROOT_KEY.hex()}",
  "witnesses": [
    "{EXAMPLE["witness"]["vkey"]}"
  ]
}}
"""
TRUST = Trust(ORIGIN, ROOT_KEY, (LOG_KEY,), (WITNESS,), 1)


def is_refused(data: bytes) -> bool:
    """Whether the file is refused as no trust file."""
    try:
        parse_trust(data)
    except VerificationError as error:
        return error.code is Code.TRUST
    return False


def with_changes(**changes: Any) -> bytes:
    """The file with other values, in its canonical form."""
    content = json.loads(TEXT) | changes
    content = {key: value for key, value in content.items() if value is not None}
    return (json.dumps(dict(sorted(content.items())), indent=2, ensure_ascii=False) + "\n").encode()


def test_a_trust_file_is_read_and_written_in_one_form() -> None:
    assert parse_trust(TEXT.encode()) == TRUST
    assert TRUST.text() == TEXT
    assert with_changes() == TEXT.encode()


def test_witnesses_are_optional() -> None:
    trust = parse_trust(with_changes(witnesses=[], quorum=0))
    assert (trust.witnesses, trust.quorum) == ((), 0)


def test_several_checkpoint_keys_of_the_origin_may_be_trusted() -> None:
    second = VerifierKey(ORIGIN, 1, b"2" * 32)
    trust = parse_trust(with_changes(checkpoint_keys=[LOG_KEY.text(), second.text()]))
    assert trust.checkpoint_keys == (LOG_KEY, second)


FORMS: dict[str, Callable[[str], bytes]] = {
    "empty": lambda _: b"",
    "no JSON": lambda text: text[:-3].encode(),
    "no final line feed": lambda text: text[:-1].encode(),
    "two final line feeds": lambda text: (text + "\n").encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "not UTF-8": lambda text: text.encode().replace(b"rng", b"\xffng"),
    "other indentation": lambda text: text.replace("  ", "    ").encode(),
    "on one line": lambda text: (json.dumps(json.loads(text)) + "\n").encode(),
    "keys in another order": lambda text: (
        json.dumps(dict(reversed(json.loads(text).items())), indent=2) + "\n"
    ).encode(),
    "key twice": lambda text: text.replace('"quorum": 1', '"quorum": 0,\n  "quorum": 1').encode(),
    "escaped letter": lambda text: text.replace("rng.example/t", "rng.example\\/t").encode(),
    "upper case root key": lambda text: text.replace(
        ROOT_KEY.hex(), ROOT_KEY.hex().upper()
    ).encode(),
    "spaces in the root key": lambda text: text.replace("2021", "20 21").encode(),
    "a comment": lambda text: ("// trust\n" + text).encode(),
    "nested deeply": lambda _: b"[" * 100_000,
    "an array": lambda _: b"[]\n",
    "a number of 5000 digits": lambda text: text.replace(": 1", ": " + "1" * 5000).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_another_form_of_the_same_file_is_refused(form: str) -> None:
    assert is_refused(FORMS[form](TEXT))


OTHER_LOG = VerifierKey("rng.example/table-8", 1, LOG_KEY.public_key).text()
LOG_AS_WITNESS = VerifierKey(ORIGIN, 4, LOG_KEY.public_key).text()
VALUES: dict[str, dict[str, Any]] = {
    "unknown key": {"comment": "x"},
    "no origin": {"origin": None},
    "no quorum": {"quorum": None},
    "other format": {"format": "sealedshoe/v2/trust"},
    "origin as a number": {"origin": 7},
    "other origin": {"origin": "rng.example/table-8"},
    "root key as a number": {"root_key": 7},
    "short root key": {"root_key": ROOT_KEY.hex()[:-2]},
    "long root key": {"root_key": ROOT_KEY.hex() + "00"},
    "root key not in hex": {"root_key": "x" * 64},
    "no checkpoint key": {"checkpoint_keys": []},
    "checkpoint key not in an array": {"checkpoint_keys": LOG_KEY.text()},
    "checkpoint key of another name": {"checkpoint_keys": [OTHER_LOG]},
    "checkpoint key of a witness's type": {"checkpoint_keys": [LOG_AS_WITNESS]},
    "checkpoint key with another id": {
        "checkpoint_keys": [LOG_KEY.text().replace("a9fefa39", "a9fefa38")]
    },
    "checkpoint key as a number": {"checkpoint_keys": [7]},
    "witness of a log's type": {"witnesses": [LOG_KEY.text()]},
    "witness twice": {"witnesses": [WITNESS.text(), WITNESS.text()]},
    "witness under two names": {
        "witnesses": [WITNESS.text(), VerifierKey("w2", 4, WITNESS.public_key).text()]
    },
    "two witnesses of one name": {
        "witnesses": [WITNESS.text(), VerifierKey(WITNESS.name, 4, b"2" * 32).text()]
    },
    "quorum above the witnesses": {"quorum": 2},
    "negative quorum": {"quorum": -1},
    "quorum as true": {"quorum": True},
    "quorum as a fraction": {"quorum": 1.0},
    "quorum as a text": {"quorum": "1"},
}


@pytest.mark.parametrize("value", VALUES)
def test_a_file_that_pins_something_else_is_refused(value: str) -> None:
    assert is_refused(with_changes(**VALUES[value]))


@pytest.mark.parametrize("byte", range(len(TEXT)))
def test_no_flipped_bit_leaves_the_trust_as_it_was(byte: int) -> None:
    for bit in range(8):
        flipped = bytearray(TEXT.encode())
        flipped[byte] ^= 1 << bit
        assert is_refused(bytes(flipped)) or parse_trust(bytes(flipped)) != TRUST


@pytest.mark.parametrize(
    "changes",
    [
        {"witnesses": [VerifierKey("w", 4, LOG_KEY.public_key).text()]},
        {"root_key": LOG_KEY.public_key.hex()},
        {"checkpoint_keys": [LOG_KEY.text(), LOG_KEY.text()]},
    ],
    ids=["the log as its own witness", "the root key as checkpoint key", "one key twice"],
)
def test_keys_of_different_purposes_are_distinct(changes: dict[str, Any]) -> None:
    assert is_refused(with_changes(**changes))
