"""Faults where cosignatures are kept: in the log's own files, and in a witness's database.

A witness must have stored a head before its cosignature leaves, whatever its disk does: nothing that it
answered is ever forgotten, and no fork of it is cosigned afterwards.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.witness.store import WitnessStore
from sealedshoe_audit.witness.witness import Witness
from tests.audit.witness_requests import (
    FORK,
    LOG_KEYS,
    NAME,
    ORIGIN,
    WITNESS,
    Clock,
    head,
    request,
)
from tests.faults.damage import flipped, missing, torn
from tests.faults.disk import Fault, disk_at
from tests.faults.elsewhere import PATIENT_S, policy_of
from tests.faults.images import Base, Image, put_image, started, take_image
from tests.faults.load import Ledger, check, play
from tests.faults.row import Row
from tests.server.fake_witness import fake_witness
from tests.server.watched import until_cosigned

KEEP = ("INSERT cosigned", "heads write", "heads fsync")
STORE = ("BEGIN", "SELECT last", "INSERT last", "INSERT cosigned", "COMMIT")
FILE = "witness.db"


async def keeping_fails(fault: Fault, root: Path) -> None:
    """The head is cosigned anew until it is kept; play goes on; after a restart all is there."""
    ledger = Ledger()
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        with disk_at(root) as disk:
            async with started(
                root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
            ) as server:
                await play(server, ledger, "w", rounds=1)
                await until_cosigned(server)
                disk.fails(fault)
                await play(server, ledger, rounds=1)
                await until_cosigned(server)
                assert disk.struck
                disk.fails(None)
        async with started(
            root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
        ) as server:
            await check(server, ledger)
            await until_cosigned(server)
    assert ledger.reasons <= {"STORAGE_FAILED"}


class Kept:
    """Images of one run under a witness, at the first time of each step of keeping a cosigned head."""

    moments: ClassVar[dict[tuple[str, str], tuple[Image, Ledger]]] = {}

    @classmethod
    async def make(cls, root: Path) -> None:
        """Plays under a witness that answers; once."""
        if cls.moments:
            return
        ledger, inside = Ledger(), [False]
        async with fake_witness("w.example/0") as witness:
            policy = policy_of(root, witness)
            await Base.put(root / "row")

            def watch(step: str, when: str) -> None:
                inside[0] = inside[0] or step == KEEP[0]
                if inside[0] and step in KEEP and (step, when) not in cls.moments:
                    cls.moments[step, when] = take_image(root / "row"), ledger.copy()

            with disk_at(root) as disk:
                async with started(
                    root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
                ) as server:
                    await play(server, ledger, "w", rounds=1)
                    disk.watch = watch
                    await play(server, ledger, rounds=1)
                    await until_cosigned(server)
                    disk.watch = lambda _step, _when: None


async def stopped_keeping(step: str, when: str, root: Path) -> None:
    """Everything is there, and a witness that starts anew cosigns it whole."""
    await Kept.make(root / "recorded")
    image, ledger = Kept.moments[step, when]
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        async with started(
            put_image(image, root / "row"), witness_policy=policy, cosigning_lag_s=PATIENT_S
        ) as server:
            await check(server, ledger)
            await until_cosigned(server)


def witness_at(root: Path) -> tuple[Witness, WitnessStore]:
    """A witness on the database below a directory."""
    root.mkdir(parents=True, exist_ok=True)
    store = WitnessStore(root / FILE)
    return Witness(NAME, WITNESS, {ORIGIN: LOG_KEYS}, store, Clock()), store


def cosigns(witness: Witness, body: bytes) -> bool:
    """Whether it gives its line."""
    refused, line = witness.add_checkpoint(body)
    return refused is None and bool(line)


def remembers(root: Path, size: int) -> None:
    """A witness that starts there goes on from a size, and refuses forks of it."""
    witness, store = witness_at(root)
    note = store.note(ORIGIN)
    assert note is not None
    assert note.startswith(head(size).partition(b"\n\n")[0])
    assert not cosigns(witness, request(size, 40, FORK))
    assert cosigns(witness, request(size, 40))
    store.close()


async def witness_stopped_at(step: str, when: str, root: Path) -> None:
    """Before its COMMIT it has the head before; after it, the new one."""
    witness, store = witness_at(root / "witness")
    moments: dict[tuple[str, str], Image] = {}
    assert cosigns(witness, request(0, 25))
    store.close()
    with disk_at(root / "witness") as disk:
        witness, store = witness_at(root / "witness")

        def watch(seen: str, at: str) -> None:
            moments.setdefault((seen, at), take_image(root / "witness"))

        disk.watch = watch
        assert cosigns(witness, request(25, 30))
        store.close()
    put_image(moments[step, when], root / "row")
    remembers(root / "row", 30 if (step, when) == ("COMMIT", "after") else 25)


async def witness_fails_at(fault: Fault, root: Path) -> None:
    """It gives no line unless the head is stored; it goes on when its disk does."""
    with disk_at(root / "witness") as disk:
        witness, store = witness_at(root / "witness")
        assert cosigns(witness, request(0, 25))
        disk.fails(fault)
        with pytest.raises(sqlite3.OperationalError):
            witness.add_checkpoint(request(25, 30))
        assert disk.struck
        note = store.note(ORIGIN)
        store.close()
    assert note is not None
    remembers(root / "witness", int(note.split(b"\n")[1]))


def spoilt(statement: str) -> Callable[[Path], Any]:
    """Runs SQL on the database."""

    def act(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(statement)

    return act


async def witness_damaged(damage: Callable[[Path], Any], refused: bool, root: Path) -> None:
    """It refuses to work; or it is a new witness, which knows nothing and says size 0."""
    witness, store = witness_at(root)
    assert cosigns(witness, request(0, 30))
    store.close()
    damage(root / FILE)
    if refused:
        with pytest.raises((sqlite3.DatabaseError, VerificationError)):
            cosigns(witness_at(root)[0], request(30, 40))
        return
    witness, store = witness_at(root)
    answer, _ = witness.add_checkpoint(request(30, 40))
    assert answer is not None
    assert (answer.status, answer.body) == (409, "0\n")
    store.close()


DAMAGES: list[tuple[str, Callable[[Path], Any], bool]] = [
    ("torn", torn, True),
    ("first byte flipped", partial(flipped, at=0), True),
    ("missing", missing, False),
    ("UPDATE last SET text = 'x'", spoilt("UPDATE last SET text = 'x'"), True),
    ("DELETE FROM last", spoilt("DELETE FROM last"), False),
]
BOTH, HOWS = ("before", "after"), (("not written", "lost"), ("written", "applied"))
ROWS = [
    *(
        Row("cosigning", f"stop {w} {s}", "kept", partial(stopped_keeping, s, w))
        for s in KEEP
        for w in BOTH
    ),
    *(
        Row("cosigning", f"{s}: error, {what}", "kept", partial(keeping_fails, Fault(s, how)))
        for s in KEEP
        for what, how in HOWS
    ),
    *(
        Row("witness's store", f"stop {w} {s}", "kept", partial(witness_stopped_at, s, w))
        for s in STORE
        for w in BOTH
    ),
    *(
        Row(
            "witness's store",
            f"{s}: error, {what}",
            "kept",
            partial(witness_fails_at, Fault(s, how)),
        )
        for s in STORE
        for what, how in HOWS
    ),
    *(
        Row(
            "witness's store",
            name,
            "refused" if no else "knows nothing",
            partial(witness_damaged, damage, no),
        )
        for name, damage, no in DAMAGES
    ),
]
