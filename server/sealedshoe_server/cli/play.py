"""`sealedshoe play`: a person plays in the terminal and sees each promise kept."""

from pathlib import Path

import click
import grpc
from rich.panel import Panel

from sealedshoe_audit.baccarat.cards import card_text
from sealedshoe_audit.baccarat.rules import explain
from sealedshoe_audit.currencies import format_amount
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.result import check_deal
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option, refusal_text
from sealedshoe_server.cli.output import console
from sealedshoe_server.client import Checker, new_request_id, statement_key
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub

_RED = {"D", "H"}
_SUIT_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}


@click.command()
@data_dir_option
@click.option("--table", default="tables/shoe-8d", show_default=True, help="Table to sit down at.")
@click.option("--player", default="you", show_default=True, help="Your reference at the operator.")
@click.option("--receipts", type=click.Path(path_type=Path), help="Directory to keep receipts in.")
def play(data_dir: Path, table: str, player: str, receipts: Path | None) -> None:
    """Play baccarat in the terminal: see the commitment, bet, see the cards and their proof."""
    with channel_to(data_dir) as channel:
        trust = parse_trust((data_dir / "trust.json").read_bytes())
        checker = Checker(trust, statement_key(channel))
        Seat(GameServiceStub(channel), checker, table, player, receipts).sit()


class Seat:
    """One person at one table."""

    def __init__(
        self,
        stub: GameServiceStub,
        checker: Checker,
        table: str,
        player: str,
        receipts: Path | None,
    ) -> None:
        """Reads the table; nothing is bet yet."""
        self._stub = stub
        self._checker = checker
        self._player = player
        self._receipts = receipts
        self._screen = console()
        answer = stub.GetTable(pb_game.GetTableRequest(name=table), timeout=TIMEOUT_S)
        self._settings = answer.table.settings
        name = f"games/{self._settings.game_id}/versions/{self._settings.game_version}"
        game = stub.GetGame(pb_game.GetGameRequest(name=name), timeout=TIMEOUT_S).game
        self._bets = [bet.id for bet in game.definition.bets]
        self._rules = game.rules_text
        self._balance = 0
        if not answer.HasField("round"):
            raise click.ClickException(f"{table} has no open round: {answer.table.no_round_reason}")
        self._opening = checker.opening(answer.round, answer.checkpoint, None)

    def sit(self) -> None:
        """Plays until the person leaves."""
        limits = self._settings.limits
        low, high, step = (self._money(m) for m in (limits.minimum, limits.maximum, limits.step))
        self._screen.print(
            f"[bold]{self._settings.game_id}[/bold]: stakes {low} to {high} in steps of {step}. "
            f"Bet like [bold]{self._bets[0]} 5.00[/bold], several with commas; "
            "[bold]rules[/bold] shows the rules, an empty line leaves."
        )
        while True:
            self._show_commitment()
            line = click.prompt("your bets", default="", show_default=False).strip()
            if not line:
                break
            if line == "rules":
                click.echo(self._rules)
                continue
            try:
                self._deal(self._wagers(line))
            except ValueError as error:
                self._screen.print(f"[yellow]{error}[/yellow]")
            except grpc.RpcError as error:
                self._screen.print(f"[yellow]refused: {refusal_text(error)}[/yellow]")
        self._screen.print(f"You leave with {self._money(self._balance)} {limits.currency}.")

    def _money(self, minor_units: int) -> str:
        return format_amount(minor_units, self._settings.currency_digits)

    def _show_commitment(self) -> None:
        opening = self._opening
        text = f"cards root       {opening.shoe.cards_root.hex()}\n"
        text += f"seed commitment  {opening.shoe.seed_commitment.hex()}\n"
        text += f"opening hash     {opening.opening_hash.hex()}"
        title = f"{opening.round}: the shoe is fixed and logged at leaf {opening.logged.index}"
        self._screen.print(Panel(text, title=title, title_align="left", expand=False))
        if self._receipts is not None:
            self._receipts.mkdir(parents=True, exist_ok=True)
            file = self._receipts / f"{opening.round.replace('/', '-')}.receipt"
            file.write_bytes(opening.receipt())

    def _wagers(self, line: str) -> list[pb_game.NewWager]:
        wagers: list[pb_game.NewWager] = []
        for number, part in enumerate(line.split(",")):
            words = part.split()
            if len(words) != 2 or words[0] not in self._bets:
                raise ValueError(f"a bet is one of {', '.join(self._bets)} and an amount")
            stake = _minor_units(words[1], self._settings.currency_digits)
            wagers.append(
                pb_game.NewWager(
                    wager_id=f"{self._player}-{number}",
                    spot=words[0],
                    stake=stake,
                    player=self._player,
                )
            )
        return wagers

    def _deal(self, wagers: list[pb_game.NewWager]) -> None:
        opening = self._opening
        answer = self._stub.DealRound(
            pb_game.DealRoundRequest(
                request_id=new_request_id(),
                round=opening.round,
                opening_hash=opening.opening_hash,
                wagers=wagers,
            ),
            timeout=TIMEOUT_S,
        )
        try:
            record = self._checker.result(opening, answer.round, answer.checkpoint)
        except VerificationError as error:
            raise click.ClickException(f"THE PROOF FAILS: {error}") from error
        self._show_result(record)
        if not answer.round.HasField("next_round"):
            reason = answer.round.no_next_round_reason
            raise click.ClickException(f"the table opens no further round: {reason}")
        self._opening = self._checker.opening(
            answer.round.next_round, answer.checkpoint, opening.shoe
        )

    def _show_result(self, record: pb.RoundDealt) -> None:
        finished = check_deal(record.cards[0].position, record)
        for name, cards, total in (
            ("Player", finished.player, finished.player_total),
            ("Banker", finished.banker, finished.banker_total),
        ):
            self._screen.print(f"  {name}  {' '.join(map(_painted, cards))}   [bold]{total}[/bold]")
        for sentence in explain(finished)[1:]:
            self._screen.print(f"  [dim]{sentence}[/dim]")
        self._screen.print(f"  [bold]{finished.outcome.name.title()}[/bold]")
        for settled in record.settlements:
            paid = settled.gross_return - settled.commission
            self._balance += paid - settled.wager.stake
            result = game_pb2.BetResult.Name(settled.result).removeprefix("BET_RESULT_").lower()
            stake = self._money(settled.wager.stake)
            self._screen.print(
                f"  {settled.wager.spot} {stake}: {result}, paid {self._money(paid)}"
            )
        proof = "the cards are the ones committed to, and the result is signed and logged"
        self._screen.print(f"  [green]✓ proved: {proof}[/green]")
        if record.HasField("closing"):
            self._screen.print("  [green]✓ the shoe is over and its seed revealed[/green]")
        self._screen.print(
            f"  balance {self._money(self._balance)} {self._settings.limits.currency}\n"
        )


def _painted(card: int) -> str:
    text = card_text(card)
    face = f"{text[0]}{_SUIT_SIGNS[text[1]]}"
    return f"[red]{face}[/red]" if text[1] in _RED else face


def _minor_units(text: str, digits: int) -> int:
    whole, point, rest = text.partition(".")
    amount = whole + rest.ljust(digits, "0")
    if not (amount.isascii() and amount.isdigit()) or len(rest) > digits or (point and not rest):
        raise ValueError(f"{text} is no amount, as 5 or 2.50")
    return int(amount)
