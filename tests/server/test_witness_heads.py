"""What a witness shows of our log counts when our own key signed it; and no answer whatever breaks us."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.log.note import VerifierKey, parse_vkey
from sealedshoe_audit.log.policy import Witness
from sealedshoe_server.witness_client import Head, WitnessClient, WitnessFailed
from tests.server.fake_witness import (
    FakeWitness,
    fake_witness,
    key_line,
    serving,
    signed,
    signed_head,
)
from tests.server.reading import root_of

ORIGIN = "log.example/shown"
LOG_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OLD_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(2, 34)))
ROOT = sha256(b"root").digest()


def vkey(private: Ed25519PrivateKey) -> VerifierKey:
    """The log's verifier key."""
    return parse_vkey(key_line(ORIGIN, 1, private)[1])


OURS = (vkey(OLD_KEY), vkey(LOG_KEY))


@pytest.fixture
async def witness() -> AsyncIterator[FakeWitness]:
    """A witness on a loopback port."""
    async with fake_witness("w.example/1") as made:
        yield made


@pytest.fixture
async def client(witness: FakeWitness) -> AsyncIterator[WitnessClient]:
    """A client of it, whose policy wrote the URL with a slash at its end."""
    async with aiohttp.ClientSession() as http:
        yield WitnessClient(Witness("w", parse_vkey(witness.vkey), f"{witness.url}/"), http, 0.6)


@pytest.mark.parametrize("private", [LOG_KEY, OLD_KEY])
async def test_a_head_under_any_key_of_ours_counts(
    witness: FakeWitness, client: WitnessClient, private: Ed25519PrivateKey
) -> None:
    """It is asked for by the hash of the origin."""
    note = signed_head(private, ORIGIN, 77, ROOT)
    witness.shown = note + witness.line(note.partition(b"\n\n")[0].decode() + "\n").encode()
    shown = await client.held(ORIGIN, OURS)
    assert shown is not None
    assert (shown.origin, shown.size, shown.root) == (ORIGIN, 77, ROOT)
    assert witness.paths == [f"/{sha256(ORIGIN.encode()).hexdigest()}/checkpoint"]


GOOD = signed_head(LOG_KEY, ORIGIN, 77, ROOT)


def under_another_name() -> bytes:
    """Another log's head, with our key's own line under it."""
    text = signed_head(LOG_KEY, "log.example/other", 77, ROOT).partition(b"\n\n")[0] + b"\n"
    line = signed(ORIGIN, key_line(ORIGIN, 1, LOG_KEY)[0], LOG_KEY.sign(text))
    return text + b"\n" + line.encode()


NOTHING = {
    "none": b"",
    "a stranger's": signed_head(STRANGER, ORIGIN, 77, ROOT),
    "another log's": signed_head(LOG_KEY, "log.example/other", 77, ROOT),
    "another log's by our key": under_another_name(),
    "changed": GOOD.replace(b"\n77\n", b"\n78\n"),
    "cut": GOOD[:-5],
    "unsigned": GOOD.partition(b"\n\n")[0] + b"\n\n",
    "a number": b"77\n",
    "bytes": b"\xff" * 100,
    "huge": GOOD + b"x" * 1_000_000,
    "an empty tree with a root": signed_head(LOG_KEY, ORIGIN, 0, ROOT),
    "extended": signed_head(LOG_KEY, f"{ORIGIN}\n5", 7, ROOT),
}


@pytest.mark.parametrize("shown", NOTHING)
async def test_anything_else_proves_nothing(
    witness: FakeWitness, client: WitnessClient, shown: str
) -> None:
    witness.shown = NOTHING[shown]
    assert await client.held(ORIGIN, OURS) is None


async def test_an_empty_tree_counts(witness: FakeWitness, client: WitnessClient) -> None:
    """It says nothing against us, but it is ours."""
    witness.shown = signed_head(LOG_KEY, ORIGIN, 0, root_of([]))
    shown = await client.held(ORIGIN, OURS)
    assert shown is not None
    assert shown.size == 0


async def test_a_head_that_comes_in_two_pieces_counts(
    witness: FakeWitness, client: WitnessClient
) -> None:
    """Else a fork would be overlooked whenever the network cuts an answer."""
    witness.shown, witness.quirk = GOOD, "pieces"
    shown = await client.held(ORIGIN, OURS)
    assert shown is not None
    assert shown.size == 77


async def test_a_witness_that_never_answers_is_down(
    witness: FakeWitness, client: WitnessClient
) -> None:
    witness.quirk = "silent"
    with pytest.raises(WitnessFailed) as caught:
        await client.held(ORIGIN, OURS)
    assert caught.value.result == "down"


async def any_answer(status: int, kind: str, body: bytes) -> None:
    """Asks a witness that gives one answer to all; it must be refused."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, body=body, headers={"Content-Type": kind})

    application = web.Application()
    application.add_routes(
        [web.post("/add-checkpoint", answer), web.get("/{h}/checkpoint", answer)]
    )
    async with serving(application) as url, aiohttp.ClientSession() as http:
        key = parse_vkey(key_line("w.example/1", 4, STRANGER)[1])
        client = WitnessClient(Witness("w", key, url), http, 5.0)
        head = Head(77, GOOD.partition(b"\n\n")[0].decode() + "\n", GOOD)
        with pytest.raises(WitnessFailed):
            await client.cosign(head, lambda _, __: ())
        assert await client.held(ORIGIN, OURS) is None


@given(
    status=st.sampled_from([200, 200, 409, 409, 422, 400, 500, 299, 304]),
    kind=st.sampled_from(
        ["text/plain", "text/x.tlog.size", "", "x", "text/x.tlog.size; charset=x"]
    ),
    body=st.binary(max_size=200)
    | st.text(max_size=50).map(str.encode)
    | st.integers(-1, 1 << 70).map(lambda size: f"{size}\n".encode())
    | st.sampled_from(["٣\n", "²\n", " 5", "5\r\n", "1_0", "+5", "0x5"]).map(str.encode),
)
@settings(max_examples=60, deadline=None)
def test_no_answer_breaks_the_client(status: int, kind: str, body: bytes) -> None:
    """Whatever comes is a failure with a name."""
    asyncio.run(any_answer(status, kind, body))
