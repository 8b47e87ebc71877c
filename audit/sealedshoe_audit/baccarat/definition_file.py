"""Reads a game definition file (TOML). Strict: every key known, every value of its type.

Format: docs/game-definitions.md. Ratios are written as strings: `"19/20"`, `"8"`, `"0.54"`.
"""

import re
import tomllib
from fractions import Fraction
from typing import TypeVar, cast

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case, Condition
from sealedshoe_audit.baccarat.definition import GameDefinition, GameLimits, Shuffle
from sealedshoe_audit.baccarat.facts import FACT_VALUES
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.errors import DefinitionError

_RATIO = re.compile(r"[0-9]{1,20}(/[0-9]{1,20}|\.[0-9]{1,6})?")
_SHUFFLES = {"every-round": Shuffle.EVERY_ROUND, "cut-card": Shuffle.CUT_CARD}
_ROUNDINGS = {rule.name.lower().replace("_", "-"): rule for rule in Rounding}
_RESULTS = {result.name.lower(): result for result in BetResult}
_T = TypeVar("_T")


class _Table:
    """A TOML table that hands out each key once, typed, and refuses what is left over."""

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, dict):
            raise DefinitionError(path, "must be a table")
        self._values = dict(cast("dict[str, object]", value))
        self._path = path

    def path(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.pop(key, default)
        if not isinstance(value, str):
            raise DefinitionError(self.path(key), "must be a string")
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value = self._values.pop(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise DefinitionError(self.path(key), "must be an integer")
        return value

    def ratio(self, key: str, default: str | None = None) -> Fraction:
        text = self.text(key, default)
        if not _RATIO.fullmatch(text):
            raise DefinitionError(self.path(key), "must be a ratio such as 19/20, 8 or 0.54")
        try:
            return Fraction(text)
        except ZeroDivisionError as error:
            raise DefinitionError(self.path(key), "divides by zero") from error

    def choice(self, key: str, choices: dict[str, _T]) -> _T:
        text = self.text(key)
        if text not in choices:
            raise DefinitionError(self.path(key), f"must be one of {', '.join(choices)}")
        return choices[text]

    def tables(self, key: str) -> list["_Table"]:
        value = self._values.pop(key, [])
        if not isinstance(value, list):
            raise DefinitionError(self.path(key), "must be an array")
        items = cast("list[object]", value)
        return [_Table(item, f"{self.path(key)}[{n}]") for n, item in enumerate(items)]

    def optional_table(self, key: str) -> "_Table":
        return _Table(self._values.pop(key, {}), self.path(key))

    def rest(self) -> dict[str, object]:
        rest, self._values = self._values, {}
        return rest

    def end(self) -> None:
        for key in self._values:
            raise DefinitionError(self.path(key), "unknown key")


def parse_definition(text: str) -> GameDefinition:
    """Returns the definition that a file states; `check_definition` says whether it may be used.

    Raises:
        DefinitionError: not TOML, an unknown or missing key, or a value of the wrong type.
    """
    try:
        root = _Table(tomllib.loads(text), "")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DefinitionError("", f"not TOML: {error}") from error
    game = GameDefinition(
        game_id=root.text("game_id"),
        version=root.integer("version"),
        title=root.text("title"),
        rules=root.text("rules"),
        decks=root.integer("decks"),
        shuffle=root.choice("shuffle", _SHUFFLES),
        cut_depth=root.integer("cut_depth", 0),
        rounds_after_cut=root.integer("rounds_after_cut", 0),
        deal_order=root.text("deal_order"),
        rounding=root.choice("rounding", _ROUNDINGS),
        step_multiple=root.integer("step_multiple"),
        round_interval_ms=root.integer("round_interval_ms"),
        free_rounds=root.integer("free_rounds"),
        limits=tuple(_limits(table) for table in root.tables("limits")),
        bets=tuple(_bet(table) for table in root.tables("bets")),
    )
    root.end()
    return game


def _limits(table: _Table) -> GameLimits:
    limits = GameLimits(
        table.text("currency", ""),
        table.integer("digits"),
        table.integer("minimum"),
        table.integer("maximum"),
    )
    table.end()
    return limits


def _bet(table: _Table) -> Bet:
    bet = Bet(
        id=table.text("id"),
        title=table.text("title"),
        cases=tuple(_case(case) for case in table.tables("cases")),
        declared_return=table.ratio("declared_return"),
        edge_minimum=table.ratio("edge_minimum"),
        edge_maximum=table.ratio("edge_maximum"),
    )
    table.end()
    return bet


def _case(table: _Table) -> Case:
    case = Case(
        conditions=_conditions(table.optional_table("when")),
        result=table.choice("result", _RESULTS),
        pays=table.ratio("pays", "0"),
        commission=table.ratio("commission", "0"),
    )
    table.end()
    return case


def _conditions(table: _Table) -> tuple[Condition, ...]:
    conditions: list[Condition] = []
    for fact, value in table.rest().items():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        conditions.append(Condition(fact, tuple(_fact(fact, v, table.path(fact)) for v in values)))
    return tuple(conditions)


_OUTCOMES = {"player": 1, "banker": 2, "tie": 3}


def _fact(fact: str, value: object, path: str) -> int:
    if fact == "outcome" and isinstance(value, str) and value in _OUTCOMES:
        return _OUTCOMES[value]
    yes_or_no = FACT_VALUES.get(fact) == range(2)
    if isinstance(value, bool):
        if yes_or_no:
            return int(value)
    elif fact != "outcome" and isinstance(value, int) and value >= 0:
        return value
    raise DefinitionError(path, "must be a small number, true or false, or player, banker or tie")
