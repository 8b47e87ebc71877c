"""Two frauds that an operator with every key could try, and the two outsiders who find them.

rewrite     a result is changed, and everything behind it is signed again with the real keys
rollback    yesterday's backup is put back, and the house goes on dealing from it

In both, a mirror and a witness have followed the log until then, each a process of its own. The server's
own guards are shown first, and then taken away: this is an operator who wants the fraud.
"""

import contextlib
import json
import shutil
import sqlite3
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import grpc

from sealedshoe_audit.cli.sources import DirectorySource
from sealedshoe_audit.keeping.published import write_log
from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.reader import read_entries
from sealedshoe_server.client import new_request_id
from sealedshoe_server.demo.forgery import rewrite_result
from sealedshoe_server.demo.outsiders import MirrorRun, WitnessProcess
from sealedshoe_server.demo.players import Mismatch
from sealedshoe_server.demo.process import ServerDied, ServerProcess
from sealedshoe_server.demo.verdict import audit
from sealedshoe_server.export import export_log
from sealedshoe_server.guard import Guard
from sealedshoe_server.heads import CheckpointKey, HeadSigner
from sealedshoe_server.keys import load_keys
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub

ROUNDS = 8
TABLES = ("tables/shoe-8d", "tables/punto-banco-6d")
TIMEOUT_S = 10.0
RETRIES = 100
RETRY_S = 0.1


@dataclass(slots=True)
class Seen:
    """What an attack met.

    Attributes:
        story: what the operator did, step by step.
        server: how the server's own guards answered, where they had a chance.
        mirror, witness: what they said; each must have refused.
    """

    attack: str
    story: list[str] = field(default_factory=lambda: [])
    server: list[str] = field(default_factory=lambda: [])
    mirror: str = ""
    witness: str = ""
    mirror_caught: bool = False
    witness_caught: bool = False

    @property
    def caught(self) -> bool:
        """Whether both outsiders found it."""
        return self.mirror_caught and self.witness_caught


class Stage:
    """A log that is followed by a mirror and cosigned by a witness."""

    def __init__(self, out: Path) -> None:
        """Names everything in one directory; an earlier run's is removed.

        Raises:
            Mismatch: the directory holds something else.
        """
        if out.exists() and any(out.iterdir()) and not (out / "server.log").exists():
            raise Mismatch(f"{out}: not empty, and not an earlier attack's")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self.out = out
        self.data = out / "data"
        self.trust = out / "trust.json"
        self.witness = WitnessProcess(out / "witness", "witness.example/demo")
        self.server = ServerProcess(self.data, out / "server.log")

    def open(self) -> None:
        """Starts the log, then the witness for it, then the server under a policy that names it."""
        self.server.start()
        self.server.stop()
        self.witness.start((self.data / "vkey").read_text("ascii").strip())
        policy = self.out / "policy"
        line = f"witness w {self.witness.vkey} {self.witness.url}\n"
        policy.write_text(f"{line}quorum w\n", "ascii")
        config = self.out / "server.toml"
        config.write_text(f'witness_policy = "{policy}"\n', "utf-8")
        self.server = ServerProcess(self.data, self.out / "server.log", "--config", str(config))
        self.server.start()
        shutil.copy(self.data / "trust.json", self.trust)

    def play(self, rounds: int) -> None:
        """Deals rounds at two tables; waits where a new shoe is not cosigned yet."""
        with grpc.insecure_channel(self.server.addresses["grpc"]) as channel:
            stub = GameServiceStub(channel)
            for table in TABLES:
                for number in range(rounds):
                    _deal(stub, table, number)

    def mirror(self, source: str | None = None, trust: Path | None = None) -> MirrorRun:
        """Lets the mirror look at the log, or at what is served in its place."""
        where = source or f"http://{self.server.addresses['http']}/log"
        return MirrorRun.look(where, self.out / "mirror", trust or self.trust)

    def write_trust_alone(self) -> Path:
        """Writes the trust file of somebody who asks no witness: the weakest outsider."""
        trust = json.loads(self.trust.read_text("utf-8")) | {"quorum": 0, "witnesses": []}
        path = self.out / "trust-without-witnesses.json"
        path.write_text(json.dumps(trust, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return path

    def close(self) -> None:
        """Ends every process."""
        self.server.kill()
        self.witness.stop()


def _deal(stub: GameServiceStub, table: str, number: int) -> None:
    opened = stub.GetTable(pb_game.GetTableRequest(name=table), timeout=TIMEOUT_S).round
    spot = ("banker", "player")[number % 2]
    request = pb_game.DealRoundRequest(
        request_id=new_request_id(),
        round=opened.name,
        opening_hash=opened.opening_hash,
        wagers=[pb_game.NewWager(wager_id="w", spot=spot, stake=5000, player="player-1@demo")],
    )
    for _ in range(RETRIES):
        try:
            stub.DealRound(request, timeout=TIMEOUT_S, wait_for_ready=True)
            return
        except grpc.RpcError as error:
            if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            time.sleep(RETRY_S)
    raise TimeoutError(f"{table}: no cosignature came")


def run_attack(name: str, out: Path) -> Seen:
    """Stages an attack; writes report.json and what the outsiders kept."""
    stage = Stage(out)
    try:
        stage.open()
        seen = ATTACKS[name](stage)
    finally:
        stage.close()
    (out / "report.json").write_text(json.dumps(asdict(seen), indent=2) + "\n", "utf-8")
    return seen


def _rewrite(stage: Stage) -> Seen:
    seen = Seen("rewrite")
    stage.play(ROUNDS)
    stage.witness.wait_for(stage.server)
    first = stage.mirror()
    seen.story.append(
        f"{ROUNDS} rounds at {len(TABLES)} tables; mirror and witness follow: {first.text}"
    )
    with grpc.insecure_channel(stage.server.addresses["grpc"]) as channel:
        size = export_log(channel, stage.out / "log")
    stage.server.stop()
    keys = load_keys(stage.data / "keys")
    real = list(read_entries(DirectorySource(stage.out / "log"), size))
    forgery = rewrite_result(real, keys.statement)
    seen.story.append(
        f"{forgery.round} (leaf {forgery.leaf}): the winner is paid {forgery.paid_after} instead of "
        f"{forgery.paid_before}; {size - forgery.leaf} records signed again with the real key"
    )
    origin = parse_checkpoint(parse_note((stage.out / "log/checkpoint").read_bytes()).text).origin
    forged = stage.out / "forged-log"
    signer = HeadSigner(origin, [CheckpointKey(0, keys.checkpoint)])
    write_log(forged, origin, forgery.entries, signer.sign)
    _show_soundness(seen, stage, forged)
    _confront(seen, stage, forged)
    return seen


def _show_soundness(seen: Seen, stage: Stage, forged: Path) -> None:
    """By itself the forged log is flawless: that is why outsiders must hold heads."""
    report = audit(["log", str(forged), "--trust", str(stage.write_trust_alone())])
    seen.story.append(f"to a verifier without witnesses the forged log is {report['verdict']}")
    report = audit(["log", str(forged), "--trust", str(stage.trust)])
    found = ", ".join(finding["code"] for finding in report["findings"])
    seen.story.append(f"to one that asks for the witness it is {report['verdict']}: {found}")


def _confront(seen: Seen, stage: Stage, forged: Path) -> None:
    """The operator asks the witness to cosign the forged head, and publishes it to the mirror."""
    status, text = stage.witness.submit(DirectorySource(forged))
    seen.witness_caught = status in (409, 422)
    seen.witness = f"refused with status {status}: {text}"
    look = stage.mirror(str(forged), stage.write_trust_alone())
    seen.mirror_caught = look.caught
    seen.mirror = look.text


def _rollback(stage: Stage) -> Seen:
    seen = Seen("rollback")
    stage.play(ROUNDS)
    stage.server.stop()
    backup = stage.out / "yesterday"
    shutil.copytree(stage.data, backup)
    seen.story.append("yesterday's backup of the data directory is taken")
    stage.server.start()
    stage.play(ROUNDS)
    stage.witness.wait_for(stage.server)
    seen.story.append(f"a day of play; mirror and witness follow: {stage.mirror().text}")
    stage.server.stop()
    shutil.rmtree(stage.data)
    shutil.copytree(backup, stage.data)
    seen.story.append("the backup is put back")
    seen.server.append(f"guard: {_refusal(stage)}")
    _forge_guard(stage)
    seen.story.append("the operator forges the guard")
    seen.server.append(f"witnesses asked at start: {_refusal(stage)}")
    stage.server = ServerProcess(stage.data, stage.out / "server.log")
    stage.server.start()
    stage.play(ROUNDS)
    seen.story.append("the operator starts without witnesses and deals on, with other cards")
    with grpc.insecure_channel(stage.server.addresses["grpc"]) as channel:
        export_log(channel, stage.out / "second-log")
    stage.server.stop()
    _confront(seen, stage, stage.out / "second-log")
    return seen


def _refusal(stage: Stage) -> str:
    """Starts the server, which must refuse; returns its last words."""
    try:
        stage.server.start()
    except ServerDied:
        return (stage.out / "server.log").read_text("utf-8").strip().splitlines()[-1]
    stage.server.stop()
    return "it started"


def _forge_guard(stage: Stage) -> None:
    """Puts a guard in place that knows no more than the backup."""
    path = stage.data.with_name(f"{stage.data.name}.guard")
    path.unlink()
    with contextlib.closing(sqlite3.connect(stage.data / "log.db")) as db:
        Guard(path).write(db.execute("SELECT text FROM head").fetchone()[0])


ATTACKS = {"rewrite": _rewrite, "rollback": _rollback}
