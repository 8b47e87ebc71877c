"""Key files: made once, never overwritten, and used only when nobody else can read them."""

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from sealedshoe_server.keys import KeyFileError, load_keys, load_signing_key, make_keys

NAMES = {"root.pem", "statement.pem", "checkpoint.pem", "sealing.key"}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    directory = tmp_path / "keys"
    make_keys(directory, os.urandom)
    return directory


def test_four_private_files_are_made(keys: Path) -> None:
    """Mode 0600 in a directory of mode 0700, each key another."""
    assert {path.name for path in keys.iterdir()} == NAMES
    assert {path.stat().st_mode & 0o777 for path in keys.iterdir()} == {0o600}
    assert keys.stat().st_mode & 0o777 == 0o700
    assert len({path.read_bytes() for path in keys.iterdir()}) == 4
    loaded = load_keys(keys)
    assert len(loaded.sealing) == 32


def test_keys_come_from_the_randomness_handed_in(tmp_path: Path) -> None:
    """The signing keys are the 32 bytes given, in order: root, statement, checkpoint, sealing."""
    given = [bytes([i]) * 32 for i in range(1, 5)]
    source = iter(given)
    make_keys(tmp_path / "keys", lambda size: next(source)[:size])
    loaded = load_keys(tmp_path / "keys")
    assert loaded.statement.private_bytes_raw() == given[1]
    assert loaded.checkpoint.private_bytes_raw() == given[2]
    assert loaded.sealing == given[3]
    assert load_signing_key(tmp_path / "keys" / "root.pem").private_bytes_raw() == given[0]


def test_keys_are_never_overwritten(keys: Path) -> None:
    """A directory with anything in it is left as it is."""
    before = {path.name: path.read_bytes() for path in keys.iterdir()}
    with pytest.raises(KeyFileError, match="never overwritten"):
        make_keys(keys, os.urandom)
    assert {path.name: path.read_bytes() for path in keys.iterdir()} == before


def test_one_file_is_enough_to_be_not_empty(tmp_path: Path) -> None:
    """Even a file of another name."""
    directory = tmp_path / "keys"
    directory.mkdir()
    (directory / "note.txt").write_text("mine")
    with pytest.raises(KeyFileError):
        make_keys(directory, os.urandom)
    assert [path.name for path in directory.iterdir()] == ["note.txt"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601, 0o666])
@pytest.mark.parametrize("name", sorted(NAMES - {"root.pem"}))
def test_a_file_that_others_may_touch_is_refused(keys: Path, name: str, mode: int) -> None:
    """Any bit for group or others; the refusal says what to set."""
    (keys / name).chmod(mode)
    with pytest.raises(KeyFileError, match="0600"):
        load_keys(keys)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_may_be_read_only(keys: Path, mode: int) -> None:
    """The owner's own bits are the owner's."""
    (keys / "statement.pem").chmod(mode)
    assert load_keys(keys).sealing


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_owners_file_is_refused(keys: Path) -> None:
    """A key that somebody else owns can be changed by them at any time."""
    os.chown(keys / "statement.pem", 12_345, -1)
    with pytest.raises(KeyFileError, match="owner"):
        load_keys(keys)


@pytest.mark.parametrize("name", sorted(NAMES - {"root.pem"}))
def test_a_missing_file_is_named(keys: Path, name: str) -> None:
    """The path stands in the error."""
    (keys / name).unlink()
    with pytest.raises(KeyFileError, match=name):
        load_keys(keys)


def test_the_root_key_may_be_taken_offline(keys: Path) -> None:
    """A running server does not need it."""
    (keys / "root.pem").unlink()
    assert load_keys(keys).sealing


def _pem(key: object, encryption: object = None) -> bytes:
    return key.private_bytes(  # type: ignore[attr-defined,no-any-return]
        Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption()
    )


WRONG_KEYS = {
    "another kind": _pem(generate_ec(SECP256R1())),
    "a public key": Ed25519PrivateKey.generate()
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    "an encrypted key": _pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"secret")),
    "nothing": b"",
    "garbage": b"\xff\xfe\x00" * 100,
    "half a key": _pem(Ed25519PrivateKey.generate())[:60],
}


@pytest.mark.parametrize("content", WRONG_KEYS.values(), ids=WRONG_KEYS.keys())
def test_a_file_that_is_no_plain_ed25519_key_is_refused(keys: Path, content: bytes) -> None:
    """Without a byte of the file in the error."""
    path = keys / "statement.pem"
    path.write_bytes(content)
    with pytest.raises(KeyFileError, match=r"statement\.pem: not an") as caught:
        load_keys(keys)
    assert content.hex()[:20] not in str(caught.value) or not content


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zz" * 32,
        "00" * 31,
        "00" * 33,
        "0" * 63,
        "٠" * 64,
        pytest.param("00" * 32 + " \n"),
        pytest.param("00 " * 32),
    ],
)
def test_a_sealing_key_is_64_hex_digits(keys: Path, text: str) -> None:
    """Exactly 32 bytes, nothing around them but one line feed."""
    (keys / "sealing.key").write_text(text, "utf-8")
    with pytest.raises(KeyFileError, match="sealing"):
        load_keys(keys)


def test_keys_are_not_shown(keys: Path) -> None:
    """Neither by repr nor by str."""
    loaded = load_keys(keys)
    shown = repr(loaded) + str(loaded)
    assert loaded.sealing.hex() not in shown
    assert loaded.statement.private_bytes_raw().hex() not in shown
    assert repr(loaded.sealing)[2:-1] not in shown
