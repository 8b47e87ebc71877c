"""Witnesses that are down, slow, lying, ahead or behind, and one that shows a fork of ours.

Play never waits for them, nothing is called cosigned that is not, and only our own signature on another
history stops the log.
"""

from functools import partial
from pathlib import Path

from tests.faults.elsewhere import PATIENT_S, policy_of, refuses
from tests.faults.images import Base, started
from tests.faults.load import Ledger, check, play
from tests.faults.row import Row
from tests.server.fake_witness import fake_witness
from tests.server.refusals import refusal_of
from tests.server.watched import eventually, forged, true_root, until_cosigned


async def witness_fails(quirk: str, root: Path) -> None:
    """Play goes on without it, nothing is called cosigned, and once it is well everything is."""
    ledger = Ledger()
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        settings = {
            "witness_policy": policy,
            "witness_timeout_s": 0.3,
            "cosigning_lag_s": PATIENT_S,
        }
        witness.quirk = quirk
        async with started(root / "row", **settings) as server:
            await play(server, ledger)
            await eventually(lambda: bool(witness.asked))
            witness.quirk = ""
            size = await until_cosigned(server)
            assert witness.held_size == size
            assert witness.held_root == true_root(server.data_dir, size)
            await check(server, ledger)


async def witness_down_too_long(root: Path) -> None:
    """No wager is taken while the quorum is behind, and why; once it is well, play goes on."""
    ledger = Ledger()
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        settings = {"witness_policy": policy, "cosigning_lag_s": 1e-6}
        witness.quirk = "down"
        async with started(root / "row", **settings) as server:
            await eventually(lambda: bool(witness.asked))
            refusal = await refusal_of(server.game.DealRound(await server.deal_request("a")))
            assert refusal.reason == "COSIGNING_BEHIND"
            witness.quirk = ""
            await until_cosigned(server)
            await play(server, ledger, rounds=1)
            await check(server, ledger)
    assert ledger.reasons <= {"COSIGNING_BEHIND"}


async def witness_behind(root: Path) -> None:
    """It was restored from a backup: it is told how our log grew from where it stands."""
    ledger = Ledger()
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        async with started(
            root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
        ) as server:
            await play(server, ledger, "w", rounds=1)
            await until_cosigned(server)
            before = witness.held_size, witness.held_root
            await play(server, ledger)
            await until_cosigned(server)
            witness.held_size, witness.held_root = before
            await play(server, ledger, "later", rounds=1)
            size = await until_cosigned(server)
            assert witness.held_root == true_root(server.data_dir, size)
            await check(server, ledger)


async def witness_forked(root: Path) -> None:
    """It shows our own signature on another history while we run: nothing is ever appended again."""
    ledger = Ledger()
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        async with started(
            root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
        ) as server:
            await play(server, ledger)
            size = await until_cosigned(server)
            witness.shown = forged(server.data_dir, size, b"x" * 32)
            witness.quirk = "refuses"
            request = await server.deal_request("a")
            await server.raw("DealRound", request)
            await eventually(lambda: server.server.problems() != [])
            refusal = await refusal_of(server.game.DealRound(await server.deal_request("b")))
            assert refusal.reason == "LOG_FORKED"
            await check(server, ledger)
        await refuses(root / "row", "the log was forked", witness_policy=policy)


ROWS = [
    *(
        Row("witness", what, "kept", partial(witness_fails, quirk))
        for what, quirk in (
            ("down", "down"),
            ("slow", "silent"),
            ("lying: a bad signature", "bad-signature"),
            ("lying: another key", "wrong-key"),
            ("lying: another text", "more-text"),
            ("lying: refuses what extends", "refuses"),
            ("ahead", "ahead"),
            ("another size each time", "conflicts"),
            ("no text", "garbage"),
        )
    ),
    Row("witness", "down for too long", "COSIGNING_BEHIND", witness_down_too_long),
    Row("witness", "behind, from a backup", "kept", witness_behind),
    Row("witness", "shows a fork of ours", "LOG_FORKED", witness_forked),
]
