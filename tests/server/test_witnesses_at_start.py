"""At a start the witnesses are asked what they hold: a log that was rolled back does not start."""

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_server.storage.interface import StoreRefused
from tests.server.fake_witness import signed_head
from tests.server.reading import stored_entries
from tests.server.watched import (
    SHORT,
    Watched,
    forged,
    origin_of,
    true_root,
    until_cosigned,
    watched_in,
)

TWO_OF_THREE = "group q 2 w0 w1 w2\nquorum q"
ROOT = sha256(b"another history").digest()
STRANGER = Ed25519PrivateKey.generate()
Shown = Callable[[Path, int], bytes]


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """Three witnesses."""
    async with watched_in(tmp_path, 3) as made:
        yield made


async def played(watched: Watched) -> tuple[Path, int]:
    """A log that was played, cosigned and stopped: its directory and size."""
    server = await watched.open(SHORT, TWO_OF_THREE)
    await server.deal()
    await server.deal()
    await until_cosigned(server)
    await server.stop()
    return server.data_dir, len(stored_entries(server.data_dir))


CONTRADICTIONS: dict[str, tuple[Shown, str]] = {
    "one record more": (lambda data, size: forged(data, size + 1, ROOT), "rolled back"),
    "many more": (lambda data, _: forged(data, (1 << 62) - 1, ROOT), "rolled back"),
    "another root": (lambda data, size: forged(data, size, ROOT), "forked"),
    "another past": (lambda data, _: forged(data, 2, ROOT), "forked"),
    "another first record": (lambda data, _: forged(data, 1, true_root(data, 2)), "forked"),
}


@pytest.mark.parametrize("shown", CONTRADICTIONS)
async def test_a_start_is_refused_when_a_witness_contradicts_the_log(
    watched: Watched, shown: str
) -> None:
    """Under our own signature; nothing is appended, and the way out is said. One of three is enough."""
    data_dir, size = await played(watched)
    make, problem = CONTRADICTIONS[shown]
    watched.witnesses[2].shown = make(data_dir, size)
    for _ in range(2):
        with pytest.raises(StoreRefused, match=f"w2 .*{problem}.*sealedshoe recover"):
            await watched.start(TWO_OF_THREE)
        assert len(stored_entries(data_dir)) == size
    watched.witnesses[2].shown = None
    again = await watched.start(TWO_OF_THREE)
    await again.deal()
    await until_cosigned(again)


HARMLESS: dict[str, Shown] = {
    "nothing": lambda _, __: b"",
    "a bare number": lambda _, size: f"{size + 100}\n".encode(),
    "a stranger's larger head": lambda data, size: signed_head(
        STRANGER, origin_of(data), size + 100, ROOT
    ),
    "our key, another log": lambda _, size: signed_head(
        STRANGER, "log.example/other", size + 100, ROOT
    ),
    "an unsigned head": lambda data, size: forged(data, size + 9, ROOT).split(b"\n\n")[0] + b"\n\n",
    "a changed head": lambda data, size: forged(data, size, ROOT).replace(b"\n", b"\n\n", 1),
    "our own head": lambda data, size: forged(data, size, true_root(data, size)),
    "an old head": lambda data, _: forged(data, 3, true_root(data, 3)),
    "the empty head": lambda data, _: forged(data, 0, true_root(data, 0)),
    "garbage": lambda _, __: b"\xff" * 1000,
    "a megabyte": lambda _, __: b"x" * 1_000_000,
}


@pytest.mark.parametrize("shown", HARMLESS)
async def test_what_proves_nothing_does_not_keep_a_log_from_starting(
    watched: Watched, shown: str
) -> None:
    """A witness could refuse service to us otherwise."""
    data_dir, size = await played(watched)
    for witness in watched.witnesses:
        witness.shown = HARMLESS[shown](data_dir, size)
    again = await watched.start(TWO_OF_THREE)
    await again.deal()
    await until_cosigned(again)


@pytest.mark.parametrize("quirk", ["down", "silent"])
async def test_witnesses_that_do_not_answer_do_not_keep_a_log_from_starting(
    watched: Watched, quirk: str
) -> None:
    """It starts, and is cosigned when they are back."""
    await played(watched)
    for witness in watched.witnesses:
        witness.quirk = quirk
    again = await watched.start(TWO_OF_THREE, witness_timeout_s=0.3)
    await again.deal()
    for witness in watched.witnesses:
        witness.quirk = ""
    await until_cosigned(again)


async def test_all_witnesses_are_asked_and_awaited(watched: Watched) -> None:
    """The slow one's word counts too; nothing is appended before it has come."""
    data_dir, size = await played(watched)
    slow = watched.witnesses[2]
    slow.shown = forged(data_dir, size + 1, ROOT)
    slow.may_look.clear()
    for witness in watched.witnesses:
        witness.looked.clear()
    starting = asyncio.create_task(watched.start(TWO_OF_THREE, witness_timeout_s=20.0))
    for witness in watched.witnesses:
        await witness.looked.wait()
    assert len(stored_entries(data_dir)) == size
    slow.may_look.set()
    with pytest.raises(StoreRefused, match="w2"):
        await starting
    assert len(stored_entries(data_dir)) == size


async def test_a_contradiction_among_answers_of_the_dead_is_found(watched: Watched) -> None:
    """Two are down, one shows it."""
    data_dir, size = await played(watched)
    for witness in watched.witnesses[:2]:
        witness.quirk = "down"
    watched.witnesses[2].shown = forged(data_dir, size, ROOT)
    with pytest.raises(StoreRefused, match="w2"):
        await watched.start(TWO_OF_THREE)


async def test_a_new_log_starts_where_witnesses_know_another_of_that_name(watched: Watched) -> None:
    """The other log's key is not ours: it is no proof."""
    for witness in watched.witnesses:
        witness.shown = signed_head(STRANGER, "localhost/sealedshoe", 1000, ROOT)
    server = await watched.open(SHORT, TWO_OF_THREE)
    await server.deal()
    await until_cosigned(server)
