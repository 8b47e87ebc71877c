"""Games and courses of play that many tests start from."""

from dataclasses import replace

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, Rewrite, Tamper
from tests.audit.forge.table import ForgedTable, install, shipped, wager

# Six decks whose cut card lies at position 12: a shoe of about four rounds.
SHORT = replace(shipped("shoe-6d"), game_id="short-6d", cut_depth=300)
ONE_ROUND = shipped("punto-banco-6d")


def table_of(
    game: GameDefinition = SHORT,
    log: ForgedLog | None = None,
    name: str = "7",
    **settings: int,
) -> ForgedTable:
    """Returns a table of a new log, or of the given one, in which its game gets installed."""
    log = log or ForgedLog()
    install(log, game)
    return ForgedTable(log, name, game, **settings)


def play_shoe(table: ForgedTable) -> None:
    """Plays rounds with one wager each until the open shoe is done."""
    while True:
        table.open()
        table.deal(wager("w", "banker", 400))
        if table.shoe is None:
            return


def long_story(
    tamper: Tamper = lambda _: None, rewrite: Rewrite = lambda _, payload: payload
) -> ForgedTable:
    """Two shoes: standing wagers, a void, a reveal, a second shoe, a retirement, drained and closed.

    Rounds: 1 with three standing wagers and one more; 2 voided; 3 from the same position; then to the
    end of the shoe. In the second shoe one round is dealt, one voided with wagers, and it is retired.
    """
    table = table_of(SHORT, ForgedLog(tamper, rewrite=rewrite))
    table.open()
    table.accept(wager("a", "player", 1000), wager("b", "tie", 200))
    table.accept(wager("c", "banker", 2000))
    table.deal(wager("d", "banker", 400))
    table.open()
    table.accept(wager("a", "player", 600))
    table.void()
    play_shoe(table)
    table.open()
    table.deal(wager("a", "player", 100))
    table.open()
    table.change(pb.TABLE_STATE_SUSPENDED)
    table.change(pb.TABLE_STATE_DRAINING)
    table.accept(wager("x", "banker", 2000))
    table.void(pb.VOID_CAUSE_SHOE_RETIRED)
    table.retire()
    table.change(pb.TABLE_STATE_CLOSED)
    return table


def keep_playing(table: ForgedTable, rounds: int = 2) -> None:
    """Plays rounds with one wager each, over the end of a shoe."""
    for _ in range(rounds):
        table.open()
        table.deal(wager("w", "banker", 400))


def every_kind(
    tamper: Tamper = lambda _: None, rewrite: Rewrite = lambda _, payload: payload
) -> ForgedLog:
    """The long story, an event, a new statement key, and the log's end: a record of every kind."""
    log = long_story(tamper, rewrite).log
    log.event()
    log.change_key(9)
    log.close()
    return log
