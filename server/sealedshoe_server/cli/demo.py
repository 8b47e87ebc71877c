"""`sealedshoe demo`: plays, kills, restarts, exports, and has a stranger verify."""

import asyncio
import shutil
import time
from pathlib import Path
from typing import Any

import click
import grpc
from rich.progress import Progress
from rich.table import Table as Screen

from sealedshoe_audit.currencies import format_amount
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.cli.output import console
from sealedshoe_server.client import Checker, new_request_id, statement_key
from sealedshoe_server.demo.attacks import ATTACKS, Seen, run_attack
from sealedshoe_server.demo.players import GUESTS, Ledger, Mismatch, TablePlayer, ask_again
from sealedshoe_server.demo.process import ServerProcess
from sealedshoe_server.demo.totals import CURRENCY, clients_totals, differences
from sealedshoe_server.demo.verdict import audit, audit_files
from sealedshoe_server.export import export_log
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub

SHARED_TABLES = ("tables/shoe-8d", "tables/mini-baccarat-8d")
PARTS = ("data", "evidence", "log", "receipts")
FILES = ("data.guard", "data.heads", "server.log", "trust.json", "vkey")
CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
]


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where the output goes. [default: build/demo, build/attack-NAME]",
)
@click.option(
    "--rounds", default=200, show_default=True, help="Rounds at each of the seven tables."
)
@click.option(
    "--attack",
    type=click.Choice(list(ATTACKS)),
    help="Stage a fraud instead: exit 0 only when a mirror and a witness both find it.",
)
def demo(out: Path | None, rounds: int, attack: str | None) -> None:
    """Play on a real server, kill it in mid-play, and have every round verified from files alone."""
    try:
        if attack is not None:
            show_attack(run_attack(attack, out or Path(f"build/attack-{attack}")))
            return
        Demo(out or Path("build/demo"), rounds).run()
    except Mismatch as error:
        raise click.ClickException(str(error)) from error


def show_attack(seen: Seen) -> None:
    """Tells an attack's story; raises ClickException unless both outsiders found it."""
    for step in seen.story:
        click.echo(f"  operator  {step}")
    for answer in seen.server:
        click.echo(f"  server    {answer}")
    click.echo(f"  mirror    {seen.mirror}")
    click.echo(f"  witness   {seen.witness}")
    if not seen.caught:
        raise click.ClickException(f"the attack {seen.attack} was not found by both")
    click.echo(f"{seen.attack}: found by the mirror and by the witness")


class Demo:
    """One run of the demo."""

    def __init__(self, out: Path, rounds: int) -> None:
        """Clears what an earlier run left in `out`."""
        self._out = out
        self._rounds = rounds
        _clear(out)
        self._server = ServerProcess(out / "data", out / "server.log")
        self._screen = console()

    def run(self) -> None:
        """Plays, kills, restarts, exports, verifies.

        Raises:
            Mismatch: anything is not as it was acknowledged.
        """
        self._server.start()
        try:
            ledger, seconds, compared = asyncio.run(self._play())
            with grpc.insecure_channel(self._server.addresses["grpc"]) as channel:
                _operate(channel)
                games = _games(channel)
                export_log(channel, self._out / "log")
                self._write_evidence(channel, ledger)
        finally:
            code = self._server.stop()
        if code != 0:
            raise Mismatch(f"the server ended with code {code}")
        for name in ("trust.json", "vkey"):
            shutil.copy(self._out / "data" / name, self._out / name)
        self._report(ledger, games, seconds, compared)

    async def _play(self) -> tuple[Ledger, float, int]:
        """Plays all tables at once; at half time the server is killed and started again."""
        trust = parse_trust((self._out / "data" / "trust.json").read_bytes())
        address = self._server.addresses["grpc"]
        with grpc.insecure_channel(address) as first:
            key = statement_key(first)
        async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
            stub = GameServiceStub(channel)
            tables = (await stub.ListTables(pb_game.ListTablesRequest(), timeout=10)).tables
            total = self._rounds * len(tables)
            half = asyncio.Event()
            with Progress(console=self._screen, transient=True) as bars:
                bar = bars.add_task("playing", total=total)

                def progress() -> None:
                    bars.advance(bar)
                    if sum(map(len, ledger.results.values())) >= total // 2:
                        half.set()

                ledger = Ledger(progress)
                checker = Checker(trust, key)
                players = [
                    TablePlayer(
                        stub, checker, ledger, table.name, guests=table.name in SHARED_TABLES
                    )
                    for table in tables
                ]
                started = time.perf_counter()
                killing = asyncio.create_task(self._kill_at(half))
                await asyncio.gather(*(player.play(self._rounds) for player in players))
                seconds = time.perf_counter() - started - await killing
                compared = await ask_again(ledger, stub)
        return ledger, seconds, compared

    async def _kill_at(self, half: asyncio.Event) -> float:
        """Returns how long the server was away."""
        await half.wait()
        started = time.perf_counter()
        await asyncio.to_thread(self._server.kill)
        await asyncio.to_thread(self._server.start)
        return time.perf_counter() - started

    def _write_evidence(self, channel: grpc.Channel, ledger: Ledger) -> None:
        """Evidence and receipts of first, middle and last rounds: shoes closed and shoes open."""
        stub = AuditServiceStub(channel)
        for table, results in sorted(ledger.results.items()):
            count = len(results)
            for number in sorted({1, count // 2, count}):
                name = f"{table}/rounds/{number}"
                request = pb_audit.GetEvidenceRequest(round=name)
                found = stub.GetEvidence(request, timeout=10)
                file = f"{table.removeprefix('tables/')}-{number}"
                _write(self._out / "evidence" / f"{file}.evidence", found.evidence)
                _write(self._out / "receipts" / f"{file}.receipt", ledger.receipts[name])

    def _report(
        self, ledger: Ledger, games: dict[str, pb_game.Game], seconds: float, compared: int
    ) -> None:
        trust = self._out / "trust.json"
        log = audit(["log", str(self._out / "log"), "--trust", str(trust)])
        evidence = sorted((self._out / "evidence").iterdir())
        receipts = [self._out / "receipts" / f"{file.stem}.receipt" for file in evidence]
        verdicts = audit_files(list(zip(evidence, receipts, strict=True)), trust)
        problems = _problems(ledger, games, log)
        problems += [
            f"{file.name}: {verdict['findings']}"
            for file, verdict in zip(evidence, verdicts, strict=True)
            if verdict["verdict"] != "valid"
        ]
        self._screen.print(_table(log))
        rounds = sum(map(len, ledger.results.values()))
        closed = sum(any("replays" in text for text in v["checked"]) for v in verdicts)
        click.echo(
            f"{rounds:,} rounds at {len(ledger.results)} tables by {len(ledger.results)} dealers and "
            f"{len(SHARED_TABLES) * len(GUESTS)} guests, {rounds / seconds:,.0f} rounds a second with "
            "every proof checked by the clients."
        )
        click.echo(
            f"Killed with SIGKILL at half time: {ledger.retries} calls retried, and all {compared:,} "
            "acknowledged answers came again byte for byte."
        )
        click.echo(f"Verifier: log of {log['size']:,} records {log['verdict'].upper()}; ", nl=False)
        click.echo(f"{len(verdicts)} evidence files valid, {closed} of them of revealed shoes.")
        click.echo(f"Files: {self._out}/log, evidence/, receipts/, trust.json, vkey")
        if problems or log["verdict"] != "valid":
            found = [f"{f['code']} at {f['record']}" for f in log["findings"]]
            raise Mismatch("; ".join([*problems, *found]))


def _clear(out: Path) -> None:
    """Removes an earlier run's output, and nothing else."""
    if out.exists() and any(out.iterdir()) and not (out / "server.log").exists():
        raise click.ClickException(f"{out}: not empty, and not an earlier demo's")
    for part in PARTS:
        shutil.rmtree(out / part, ignore_errors=True)
    for file in FILES:
        (out / file).unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)


def _operate(channel: grpc.Channel) -> None:
    """An operator voids a round with a wager in it, and retires a shoe: the report shows both."""
    game, operator = GameServiceStub(channel), OperatorServiceStub(channel)
    table = game.GetTable(pb_game.GetTableRequest(name="tables/shoe-7d"), timeout=10)
    wager = pb_game.NewWager(wager_id="late", spot="banker", stake=500, player="player-1@demo")
    game.PlaceWagers(
        pb_game.PlaceWagersRequest(
            request_id=new_request_id(),
            round=table.round.name,
            opening_hash=table.round.opening_hash,
            wagers=[wager],
        ),
        timeout=10,
    )
    by = pb.Accountability(actor="demo", authorised_by="demo", reason="shows a void round")
    cause = pb.VoidCause.VOID_CAUSE_FRONTEND_FAILURE
    operator.VoidRound(
        pb_op.VoidRoundRequest(
            request_id=new_request_id(), round=table.round.name, cause=cause, by=by
        ),
        timeout=10,
    )
    operator.RetireShoe(
        pb_op.RetireShoeRequest(
            request_id=new_request_id(),
            table="tables/shoe-7d",
            cause=pb.RetireCause.RETIRE_CAUSE_OPERATOR,
            by=by,
        ),
        timeout=10,
    )


def _games(channel: grpc.Channel) -> dict[str, pb_game.Game]:
    found = GameServiceStub(channel).ListGames(pb_game.ListGamesRequest(), timeout=10)
    return {game.definition.game_id: game for game in found.games}


def _problems(ledger: Ledger, games: dict[str, pb_game.Game], log: dict[str, Any]) -> list[str]:
    """Where the acknowledged rounds and the verified log differ."""
    problems: list[str] = []
    for table, results in ledger.results.items():
        game_id = table.removeprefix("tables/")
        seen = clients_totals(results, games[game_id].definition.decks)
        logged = log.get("games", {}).get(f"{game_id} version 1")
        found = ["missing from the log"] if logged is None else differences(seen, logged)
        problems += [f"{table}: {problem}" for problem in found]
    return problems


def _table(log: dict[str, Any]) -> Screen:
    screen = Screen(title="What the verifier found in the log (in brackets: exact odds)")
    screen.add_column("game", no_wrap=True)
    for name in ("rounds", "Banker", "Player", "Tie", "staked", "returned", "commission"):
        screen.add_column(name, justify="right", no_wrap=True)
    for name, game in log.get("games", {}).items():
        money = game["money"].get(CURRENCY, {"staked": 0, "returned": 0, "commission": 0})
        outcomes = [
            f"{100 * game['outcomes'][o] / max(1, game['rounds']):.1f} % "
            f"({100 * float(game['expected'][o]):.1f})"
            for o in ("banker", "player", "tie")
        ]
        amounts = [format_amount(money[key], 2) for key in ("staked", "returned", "commission")]
        screen.add_row(name.split()[0], f"{game['rounds']:,}", *outcomes, *amounts)
    return screen


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
