"""Commands of an operator: games, tables, rounds and shoes of the running server."""

from pathlib import Path

import click
from rich.table import Table as Screen

from sealedshoe_audit.currencies import CURRENCY_DIGITS, format_amount
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.cli.output import console, fraction_percent
from sealedshoe_server.client import new_request_id
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub

reason_option = click.option("--reason", default="", help="Why; goes into the log.")
actor_option = click.option("--actor", default="", help="Who; goes into the log.")
authorised_option = click.option("--authorised-by", default="", help="Who allowed it.")


@click.group()
def game() -> None:
    """Games: list and install."""


@game.command("list")
@data_dir_option
@click.option("--rules", "rules_of", metavar="GAME", help="Print one game's rules text.")
def game_list(data_dir: Path, rules_of: str | None) -> None:
    """List the installed games with their exact returns."""
    with channel_to(data_dir) as channel:
        found = GameServiceStub(channel).ListGames(pb_game.ListGamesRequest(), timeout=TIMEOUT_S)
    screen = Screen("game", "decks", "shuffle", "returns")
    for item in found.games:
        if rules_of == item.definition.game_id:
            click.echo(item.rules_text)
            return
        returns = ", ".join(
            f"{odds.bet} {fraction_percent(odds.theoretical_return)} %" for odds in item.odds
        )
        shuffle = game_pb2.ShufflePolicy.Name(item.definition.shuffle)
        plain = shuffle.removeprefix("SHUFFLE_POLICY_").lower().replace("_", " ")
        screen.add_row(item.name, str(item.definition.decks), plain, returns)
    if rules_of:
        raise click.ClickException(f"{rules_of}: no such game")
    console().print(screen)


@game.command("install")
@data_dir_option
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@actor_option
@authorised_option
@reason_option
def game_install(data_dir: Path, file: Path, actor: str, authorised_by: str, reason: str) -> None:
    """Install a game from its definition file."""
    request = pb_op.InstallGameRequest(
        request_id=new_request_id(),
        definition_toml=file.read_text("utf-8"),
        by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
    )
    with channel_to(data_dir) as channel:
        done = OperatorServiceStub(channel).InstallGame(request, timeout=TIMEOUT_S)
    click.echo(f"{done.game} installed at leaf {done.record.index}")
    for odds in done.odds:
        click.echo(f"  {odds.bet}: exact return {fraction_percent(odds.theoretical_return)} %")


@click.group()
def table() -> None:
    """Tables: list, create, suspend, resume, drain, close."""


@table.command("list")
@data_dir_option
def table_list(data_dir: Path) -> None:
    """List the tables."""
    screen = Screen("table", "game", "state", "limits", "open round")
    token = ""
    with channel_to(data_dir) as channel:
        stub = GameServiceStub(channel)
        while True:
            page = stub.ListTables(pb_game.ListTablesRequest(page_token=token), timeout=TIMEOUT_S)
            for item in page.tables:
                screen.add_row(*_table_row(item))
            token = page.next_page_token
            if not token:
                break
    console().print(screen)


def _table_row(item: pb_game.Table) -> tuple[str, str, str, str, str]:
    settings = item.settings
    low, high = (
        format_amount(amount, settings.currency_digits)
        for amount in (settings.limits.minimum, settings.limits.maximum)
    )
    state = pb.TableState.Name(item.state).removeprefix("TABLE_STATE_").lower()
    game_version = f"{settings.game_id} v{settings.game_version}"
    limits = f"{low} to {high} {settings.limits.currency}"
    return item.name, game_version, state, limits, item.open_round or item.no_round_reason


@table.command("create")
@data_dir_option
@click.argument("table_id")
@click.option("--game", "game_id", required=True, help="Game id, as shoe-8d.")
@click.option("--game-version", default=1, show_default=True)
@click.option("--currency", default="USD", show_default=True)
@click.option("--minimum", required=True, type=int, help="Minor units.")
@click.option("--maximum", required=True, type=int, help="Minor units.")
@click.option("--step", default=20, show_default=True, help="Minor units.")
@click.option("--spot-maximum", default=0, help="All players' stakes on a spot; 0: no bound.")
@click.option(
    "--betting-window-ms", default=0, help="A round is dealt no sooner after its opening."
)
@click.option("--dealer", default="", help="Identity of the only caller who may deal.")
@click.option("--idle-limit-s", default=0, help="Retire a shoe that stands idle; 0: never.")
@actor_option
@authorised_option
@reason_option
def table_create(
    data_dir: Path,
    table_id: str,
    game_id: str,
    game_version: int,
    currency: str,
    minimum: int,
    maximum: int,
    step: int,
    spot_maximum: int,
    betting_window_ms: int,
    dealer: str,
    idle_limit_s: int,
    actor: str,
    authorised_by: str,
    reason: str,
) -> None:
    """Create a table and open its first round."""
    settings = pb.TableSettings(
        game_id=game_id,
        game_version=game_version,
        limits=game_pb2.Limits(
            currency=currency,
            minimum=minimum,
            maximum=maximum,
            step=step,
            spot_maximum=spot_maximum,
        ),
        currency_digits=CURRENCY_DIGITS.get(currency, 0),
        betting_window_ms=betting_window_ms,
        dealer=dealer,
        idle_limit_s=idle_limit_s,
    )
    request = pb_op.CreateTableRequest(
        request_id=new_request_id(),
        table_id=table_id,
        settings=settings,
        by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
    )
    with channel_to(data_dir) as channel:
        done = OperatorServiceStub(channel).CreateTable(request, timeout=TIMEOUT_S)
    click.echo(f"{done.table} created; open is {done.round.name}")


_STATES = {
    "suspend": pb.TableState.TABLE_STATE_SUSPENDED,
    "resume": pb.TableState.TABLE_STATE_ENABLED,
    "drain": pb.TableState.TABLE_STATE_DRAINING,
    "close": pb.TableState.TABLE_STATE_CLOSED,
}
_HELP = {
    "suspend": "Refuse wagers and deals; the open round stays.",
    "resume": "Take wagers and deals again; also resumes a failed RNG after its self-tests.",
    "drain": "Deal the open round, then close.",
    "close": "Void the open round, reveal the shoe and close.",
}


def _state_command(name: str) -> click.Command:
    @click.command(name, help=_HELP[name])
    @data_dir_option
    @click.argument("table_name")
    @actor_option
    @authorised_option
    @reason_option
    def command(
        data_dir: Path, table_name: str, actor: str, authorised_by: str, reason: str
    ) -> None:
        request = pb_op.SetTableStateRequest(
            request_id=new_request_id(),
            table=table_name,
            state=_STATES[name],
            by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
        )
        with channel_to(data_dir) as channel:
            done = OperatorServiceStub(channel).SetTableState(request, timeout=TIMEOUT_S)
        state = pb.TableState.Name(done.state).removeprefix("TABLE_STATE_").lower()
        click.echo(f"{table_name} is {state}")

    return command


for state_name in _STATES:
    table.add_command(_state_command(state_name))


def _causes(names: list[str], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix).lower().replace("_", "-"): number
        for number, name in enumerate(names)
        if number
    }


VOID_CAUSES = _causes(pb.VoidCause.keys(), "VOID_CAUSE_")
RETIRE_CAUSES = _causes(pb.RetireCause.keys(), "RETIRE_CAUSE_")


@click.group("round")
def round_() -> None:
    """Rounds: void."""


@round_.command("void")
@data_dir_option
@click.argument("round_name")
@click.option("--cause", required=True, type=click.Choice(list(VOID_CAUSES)))
@actor_option
@authorised_option
@reason_option
def round_void(
    data_dir: Path, round_name: str, cause: str, actor: str, authorised_by: str, reason: str
) -> None:
    """Cancel an open, undealt round; every stake goes back."""
    request = pb_op.VoidRoundRequest(
        request_id=new_request_id(),
        round=round_name,
        cause=pb.VoidCause.ValueType(VOID_CAUSES[cause]),
        by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
    )
    with channel_to(data_dir) as channel:
        done = OperatorServiceStub(channel).VoidRound(request, timeout=TIMEOUT_S)
    click.echo(f"{round_name} voided at leaf {done.records[0].index}")


@click.group()
def shoe() -> None:
    """Shoes: retire."""


@shoe.command("retire")
@data_dir_option
@click.argument("table_name")
@click.option(
    "--cause", type=click.Choice(list(RETIRE_CAUSES)), default="operator", show_default=True
)
@click.option(
    "--void-cause", type=click.Choice(list(VOID_CAUSES)), help="Voids standing wagers, if any."
)
@actor_option
@authorised_option
@reason_option
def shoe_retire(
    data_dir: Path,
    table_name: str,
    cause: str,
    void_cause: str | None,
    actor: str,
    authorised_by: str,
    reason: str,
) -> None:
    """End a table's shoe early and reveal it."""
    request = pb_op.RetireShoeRequest(
        request_id=new_request_id(),
        table=table_name,
        cause=pb.RetireCause.ValueType(RETIRE_CAUSES[cause]),
        void_cause=pb.VoidCause.ValueType(VOID_CAUSES[void_cause] if void_cause else 0),
        by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
    )
    with channel_to(data_dir) as channel:
        done = OperatorServiceStub(channel).RetireShoe(request, timeout=TIMEOUT_S)
    click.echo(f"the shoe of {table_name} is retired and revealed ({len(done.records)} records)")
