"""No change of keys without the root key's word for exactly it; what is refused leaves no trace."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import key_change
from tests.server.reading import stored_entries
from tests.server.refusals import Refusal, refusal_of
from tests.server.rotating import (
    CHECKPOINT,
    NAMES,
    SEALING,
    STATEMENT,
    NewKey,
    change_of,
    changes_in,
    hand_in,
    in_force,
    make_key,
    root_key,
    rotate,
    sign,
    status,
    until_changed,
)
from tests.server.running import Running

ALL = list(NAMES)
AHEAD = 200  # far enough that nothing happens while a test looks


async def refused(server: Running, change: pb.KeyChanged) -> Refusal:
    """The refusal of a change, which leaves log, keys and waiting changes as they were."""
    entries, before = stored_entries(server.data_dir), await status(server)
    refusal = await refusal_of(hand_in(server, change))
    after = await status(server)
    assert stored_entries(server.data_dir) == entries
    assert after.key_change_at == before.key_change_at
    assert (after.statement_key, after.checkpoint_key) == (
        before.statement_key,
        before.checkpoint_key,
    )
    return refusal


async def invalid(server: Running, change: pb.KeyChanged, *fields: str) -> None:
    """Such a change is none."""
    refusal = await refused(server, change)
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "KEY_CHANGE_INVALID")
    assert refusal.fields == fields


def private_statement(server: Running) -> Ed25519PrivateKey:
    """What a thief of the statement key holds."""
    path = server.data_dir / "keys" / "statement.pem"
    key = load_pem_private_key(path.read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return key


@pytest.mark.parametrize("purpose", ALL)
async def test_a_forged_root_signature_is_refused(house: Running, purpose: int) -> None:
    """No signature, a flipped bit in it, somebody else's."""
    change = await change_of(house, purpose, make_key(house.data_dir, purpose), AHEAD)
    good = change.root_signature
    stranger = Ed25519PrivateKey.generate().sign(b"anything")
    for forged in (b"", good[:-1], bytes([good[0] ^ 1]) + good[1:], stranger):
        change.root_signature = forged
        await invalid(house, change, "change")
    change.root_signature = good
    assert not await hand_in(house, change)


@pytest.mark.parametrize("purpose", ALL)
async def test_the_statement_key_installs_nothing(house: Running, purpose: int) -> None:
    """Whoever stole it signs as if it were the root key."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, AHEAD)
    change.header.origin = house.config.origin
    sign(change, private_statement(house), new)
    change.ClearField("header")
    await invalid(house, change, "change")


TAMPERED: dict[str, Any] = {
    "another leaf": lambda change: setattr(change, "first_leaf", change.first_leaf + 1),
    "another purpose": lambda change: setattr(change, "purpose", CHECKPOINT),
    "another old key": lambda change: setattr(change, "old_key", b"\x01" * 32),
    "another new key": lambda change: setattr(change, "new_key", b"\x01" * 32),
    "a revocation": lambda change: change.ClearField("new_key"),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_a_change_is_what_was_signed(house: Running, name: str) -> None:
    """The root key's word counts for every field."""
    change = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), AHEAD)
    TAMPERED[name](change)
    await invalid(house, change, "change")


UNSOUND: dict[str, Any] = {
    "from a key that is not in force": lambda change: setattr(change, "old_key", b"\x01" * 32),
    "from no key": lambda change: change.ClearField("old_key"),
    "for another log": lambda change: setattr(change.header, "origin", "log.example/other"),
}


@pytest.mark.parametrize("name", UNSOUND)
@pytest.mark.parametrize("purpose", [STATEMENT, CHECKPOINT])
async def test_an_unsound_change_is_refused_even_if_root_signed_it(
    house: Running, purpose: int, name: str
) -> None:
    new = make_key(house.data_dir, purpose)
    await invalid(house, await change_of(house, purpose, new, AHEAD, UNSOUND[name]), "change")


async def test_a_key_serves_one_purpose(house: Running) -> None:
    """The root key, a key in force and the old key itself are no new keys, whoever holds them."""
    keys = [root_key(house.data_dir), private_statement(house)]
    for private in keys:
        name = private.public_key().public_bytes_raw()
        new = NewKey(name, house.data_dir, private)
        await invalid(house, await change_of(house, CHECKPOINT, new, AHEAD), "change")
        await invalid(house, await change_of(house, STATEMENT, new, AHEAD), "change")


@pytest.mark.parametrize("purpose", [STATEMENT, CHECKPOINT])
async def test_a_new_key_proves_that_it_is_at_hand(house: Running, purpose: int) -> None:
    """By its own signature over the same bytes."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, AHEAD)
    good = change.possession_signature
    for forged in (b"", bytes([good[0] ^ 1]) + good[1:], change.root_signature):
        change.possession_signature = forged
        await invalid(house, change, "change")


async def test_a_sealing_key_has_no_possession_signature(house: Running) -> None:
    """It signs nothing."""
    change = await change_of(house, SEALING, make_key(house.data_dir, SEALING), AHEAD)
    change.possession_signature = b"\x01" * 64
    await invalid(house, change, "change")


@pytest.mark.parametrize("purpose", ALL)
async def test_a_key_without_file_is_refused(house: Running, purpose: int) -> None:
    """The server could not sign or open with it."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, AHEAD)
    aside = new.path.rename(new.path.with_suffix(".aside"))
    await invalid(house, change, "change.new_key")
    aside.rename(new.path)
    assert not await hand_in(house, change)


@pytest.mark.parametrize("ahead", [0, -1, -3])
async def test_a_leaf_that_has_passed_is_refused(house: Running, ahead: int) -> None:
    """The change would have to be a leaf that is there."""
    change = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), ahead)
    await invalid(house, change, "first_leaf")


async def test_no_leaf_at_all_is_refused(house: Running) -> None:
    """first_leaf 0: the change would be the leaf before the first."""
    new = make_key(house.data_dir, STATEMENT)
    change = await change_of(house, STATEMENT, new, 0, lambda c: setattr(c, "first_leaf", 0))
    await invalid(house, change, "first_leaf")


async def test_a_replayed_change_happens_once(house: Running) -> None:
    """Handed in again it is told done; after the next change its old key is not in force any more."""
    new = make_key(house.data_dir, STATEMENT)
    first = await change_of(house, STATEMENT, new, 3)
    await until_changed(house, first)
    await rotate(house, STATEMENT)
    assert await hand_in(house, first)
    assert len(changes_in(house.data_dir)) == 2
    forged = pb.KeyChanged()
    forged.CopyFrom(first)
    forged.first_leaf = await house.size() + AHEAD
    await invalid(house, forged, "change")
    again = await change_of(
        house, STATEMENT, new, AHEAD, lambda change: setattr(change, "old_key", first.old_key)
    )
    await invalid(house, again, "change")


async def test_another_leafs_change_waits_its_turn(house: Running) -> None:
    """One at a time; the first is as it was, and can be handed in again."""
    first = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), AHEAD)
    assert not await hand_in(house, first)
    for purpose in ALL:
        other = await change_of(house, purpose, make_key(house.data_dir, purpose), AHEAD + 1)
        refusal = await refused(house, other)
        assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "KEY_CHANGE_WAITING")
    assert not await hand_in(house, first)
    assert (await status(house)).key_change_at == first.first_leaf


async def test_another_change_at_the_same_leaf_waits_its_turn(house: Running) -> None:
    """Else the first would be dropped without a word, though its caller was told that it waits."""
    first = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), AHEAD)
    assert not await hand_in(house, first)
    other = await change_of(house, SEALING, make_key(house.data_dir, SEALING), AHEAD)
    assert other.first_leaf == first.first_leaf
    refusal = await refused(house, other)
    assert refusal.reason == "KEY_CHANGE_WAITING"


async def test_the_server_fills_in_the_header(house: Running) -> None:
    """A caller who does is refused, as is one who names no purpose."""
    change = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), AHEAD)
    change.header.origin = house.config.origin
    refusal = await refused(house, change)
    assert (refusal.reason, refusal.fields) == ("FIELD_INVALID", ("change.header",))
    change.ClearField("header")
    change.purpose = pb.KeyPurpose.KEY_PURPOSE_UNSPECIFIED
    change.root_signature = root_key(house.data_dir).sign(key_change(change))
    refusal = await refused(house, change)
    assert (refusal.reason, refusal.fields) == ("ENUM_UNSPECIFIED", ("change.purpose",))


async def test_a_refused_change_does_not_stop_a_sound_one(house: Running) -> None:
    """At the same leaf, right after it."""
    new = make_key(house.data_dir, STATEMENT)
    change = await change_of(house, STATEMENT, new, 4)
    bad = pb.KeyChanged()
    bad.CopyFrom(change)
    bad.root_signature = bytes(64)
    await invalid(house, bad, "change")
    await until_changed(house, change)
    assert await in_force(house, STATEMENT) == new.name
