"""What the server does by itself at tables: rounds that are missing, shoes that stand idle."""

import contextlib

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server import answers
from sealedshoe_server.dealing import decide
from sealedshoe_server.dealing.draft import Draft, Surroundings
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.floor import Floor
from sealedshoe_server.live_table import LiveTable


async def open_missing_rounds(floor: Floor) -> None:
    """Opens a round on every enabled table that has none, as far as new shoes can be made."""
    for live in list(floor.tables.values()):
        if _lacks_round(live):
            with contextlib.suppress(GameError):
                await floor.command(live, None, _open_if_missing, answers.changed_state)


def _lacks_round(live: LiveTable) -> bool:
    enabled = live.state.state == pb.TableState.TABLE_STATE_ENABLED
    return enabled and live.state.round is None


def _open_if_missing(around: Surroundings, live: LiveTable) -> Draft:
    if not _lacks_round(live):
        raise GameError(Reason.TABLE_STATE_UNREACHABLE, "a round is open")
    return decide.open_round(around, live.state)


async def retire_idle_shoes(floor: Floor, now_us: int) -> None:
    """Retires shoes that have dealt and then stood without wagers for the table's idle limit."""

    def retire(around: Surroundings, live: LiveTable) -> Draft:
        if not _is_idle(live, around.now_us):
            raise GameError(Reason.WAGERS_STANDING, "the table is in use again")
        by = pb.Accountability(actor="server", reason="idle limit")
        cause = pb.RetireCause.RETIRE_CAUSE_IDLE
        no_void = pb.VoidCause.VOID_CAUSE_UNSPECIFIED
        return decide.retire_shoe(around, live.state, cause, no_void, floor.cards(live), by)

    for live in list(floor.tables.values()):
        if _is_idle(live, now_us):
            with contextlib.suppress(GameError):
                await floor.command(live, None, retire, answers.retired_shoe)


def _is_idle(live: LiveTable, now_us: int) -> bool:
    state = live.state
    limit_us = state.settings.idle_limit_s * 1_000_000
    if not limit_us or state.shoe is None or state.shoe.position == 0:
        return False
    unwagered = state.round is None or not state.round.wagers
    playing = state.state == pb.TableState.TABLE_STATE_ENABLED
    return playing and unwagered and now_us - state.time_us >= limit_us
