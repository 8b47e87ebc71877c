"""The client of one witness: every status, resynchronisation, and only verified lines."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.note import parse_vkey
from sealedshoe_audit.log.policy import Witness
from sealedshoe_server.witness_client import Head, WitnessClient, WitnessFailed, WitnessRefused
from tests.server.fake_witness import FakeWitness, fake_witness, signed_head
from tests.server.reading import leaf, root_of

ORIGIN = "log.example/client"
LOG_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
LEAVES = [leaf(bytes([number])) for number in range(20)]


def head_of(size: int) -> Head:
    """The log's head at a size."""
    note = signed_head(LOG_KEY, ORIGIN, size, root_of(LEAVES[:size]))
    return Head(size, note.partition(b"\n\n")[0].decode() + "\n", note)


def prove(old: int, new: int) -> tuple[bytes, ...]:
    """RFC 6962, 2.1.2: PROOF(old, D[new])."""
    return _subproof(old, LEAVES[:new], True) if 0 < old < new else ()


def _subproof(old: int, leaves: list[bytes], whole: bool) -> tuple[bytes, ...]:
    size = len(leaves)
    if old == size:
        return () if whole else (root_of(leaves),)
    split = 1
    while split * 2 < size:
        split *= 2
    if old <= split:
        return (*_subproof(old, leaves[:split], whole), root_of(leaves[split:]))
    return (*_subproof(old - split, leaves[split:], False), root_of(leaves[:split]))


@pytest.fixture
async def witness() -> AsyncIterator[FakeWitness]:
    """A witness on a loopback port."""
    async with fake_witness("w.example/1") as made:
        yield made


@pytest.fixture
async def client(witness: FakeWitness) -> AsyncIterator[WitnessClient]:
    """A client that never asked it before."""
    async with aiohttp.ClientSession() as http:
        yield client_of(witness, http)


def client_of(witness: FakeWitness, http: aiohttp.ClientSession) -> WitnessClient:
    """A client with a short patience."""
    return WitnessClient(Witness("w", parse_vkey(witness.vkey), witness.url), http, 0.6)


async def test_each_head_is_asked_for_from_the_size_that_the_witness_holds(
    witness: FakeWitness, client: WitnessClient
) -> None:
    """One request a head; the witness checks every proof."""
    for size in (1, 2, 3, 7, 8, 13, 13, 20):
        assert await client.cosign(head_of(size), prove) == witness.lines[-1]
    assert [asked.old for asked in witness.asked] == [0, 1, 2, 3, 7, 8, 13, 13]


async def test_a_conflict_with_a_size_is_asked_again_from_there(
    witness: FakeWitness, client: WitnessClient
) -> None:
    """A witness that we asked in another life."""
    witness.held_size, witness.held_root = 5, root_of(LEAVES[:5])
    assert await client.cosign(head_of(9), prove) == witness.lines[-1]
    assert [asked.old for asked in witness.asked] == [0, 5]


async def test_a_witness_that_forgot_heads_is_asked_from_what_it_holds(
    witness: FakeWitness, client: WitnessClient
) -> None:
    await client.cosign(head_of(9), prove)
    witness.held_size, witness.held_root = 4, root_of(LEAVES[:4])
    assert await client.cosign(head_of(10), prove) == witness.lines[-1]
    assert [asked.old for asked in witness.asked] == [0, 9, 4]


@pytest.mark.parametrize("quirk", ["extra-lines", "redirect"])
async def test_its_own_line_is_found(
    witness: FakeWitness, client: WitnessClient, quirk: str
) -> None:
    """Among lines of unknown keys, one under its own name with another id too; behind redirects."""
    witness.quirk = quirk
    assert await client.cosign(head_of(6), prove) == witness.lines[-1]


async def test_a_line_that_comes_in_two_pieces_is_read_whole(
    witness: FakeWitness, client: WitnessClient
) -> None:
    witness.quirk = "pieces"
    assert await client.cosign(head_of(6), prove) == witness.lines[-1]


FAILURES = {
    "down": "error",
    "silent": "down",
    "wrong-key": "bad-signature",
    "bad-signature": "bad-signature",
    "twice": "bad-signature",
    "conflicts": "conflict",
    "huge": "bad-signature",
    "garbage": "down",
    "400": "error",
    "403": "error",
    "404": "error",
    "429": "error",
    "500": "error",
    "204": "error",
}


@pytest.mark.parametrize("quirk", FAILURES)
async def test_an_answer_without_a_good_line_is_a_failure_that_passes(
    witness: FakeWitness, client: WitnessClient, quirk: str
) -> None:
    """Said in one word for the metrics; and once it is well again, it cosigns."""
    witness.quirk = quirk
    with pytest.raises(WitnessFailed) as caught:
        await client.cosign(head_of(6), prove)
    assert (caught.type, caught.value.result) == (WitnessFailed, FAILURES[quirk])
    witness.quirk = ""
    assert await client.cosign(head_of(7), prove) == witness.lines[-1]


REFUSALS = {
    "bare-409": "refused",
    "text-409": "refused",
    "refuses": "refused",
    "ahead": "ahead",
}


@pytest.mark.parametrize("quirk", REFUSALS)
async def test_an_answer_that_our_head_extends_nothing_is_a_refusal(
    witness: FakeWitness, client: WitnessClient, quirk: str
) -> None:
    """409 without a size, 422, and a size beyond our log are alarms; each is asked once."""
    witness.quirk = quirk
    with pytest.raises(WitnessRefused) as caught:
        await client.cosign(head_of(6), prove)
    assert caught.value.result == REFUSALS[quirk]
    assert len(witness.asked) == 1


async def test_a_witness_with_another_history_refuses(
    witness: FakeWitness, client: WitnessClient
) -> None:
    """It names its size, and then finds that our head does not extend it."""
    witness.held_size, witness.held_root = 5, root_of(LEAVES[1:6])
    with pytest.raises(WitnessRefused) as caught:
        await client.cosign(head_of(9), prove)
    assert caught.value.result == "refused"
    assert [asked.old for asked in witness.asked] == [0, 5]


async def test_a_line_over_more_than_our_head_is_refused(
    witness: FakeWitness, client: WitnessClient
) -> None:
    """An answer of `more text, an empty line, a signature` must not move the end of the signed text."""
    witness.quirk = "more-text"
    with pytest.raises(WitnessFailed) as caught:
        await client.cosign(head_of(6), prove)
    assert caught.value.result == "bad-signature"


async def test_a_port_where_nobody_listens_is_down() -> None:
    async with fake_witness("w.example/1") as gone:
        pass
    async with aiohttp.ClientSession() as http:
        with pytest.raises(WitnessFailed) as caught:
            await client_of(gone, http).cosign(head_of(6), prove)
    assert (caught.type, caught.value.result) == (WitnessFailed, "down")
