"""What people see: a progress bar on stderr, plain tables, and the verdict last."""

import sys
import time
from collections.abc import Sequence
from typing import Any, cast

BAR_WIDTH = 30
REFRESH_S = 0.1


class ProgressBar:
    """A bar on stderr when it is a terminal; silent otherwise."""

    def __init__(self, what: str) -> None:
        """Names the work in one word."""
        self._what = what
        self._shown_at = 0.0
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Redraws the bar, at most ten times a second."""
        now = time.monotonic()
        if not self._terminal or (done < total and now - self._shown_at < REFRESH_S):
            return
        self._shown_at = now
        filled = BAR_WIDTH * done // max(1, total)
        rate = done / max(1e-9, now - self._started)
        bar = "█" * filled + "·" * (BAR_WIDTH - filled)
        sys.stderr.write(f"\r{self._what} {bar} {done:,}/{total:,} records, {rate:,.0f}/s ")
        if done == total:
            sys.stderr.write("\n")
        sys.stderr.flush()


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in plain text; columns of numbers are right-aligned."""
    widths = [max(len(row[i]) for row in (headers, *rows)) for i in range(len(headers))]
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        cells = zip(row, widths, numeric, strict=True)
        return "  ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(headers), rule, *(line(row) for row in rows)])


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("-", "").replace(" %", "").isdigit()


def printable(value: object) -> object:
    """Returns a report with every string fit for a terminal: no file may write escape sequences."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in value)
    if isinstance(value, list):
        return [printable(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: printable(item) for key, item in cast("dict[str, object]", value).items()}
    return value


def print_verdict(report: dict[str, Any]) -> None:
    """Prints what was checked, what was not, the findings, and the verdict."""
    for text in report["checked"]:
        print(f"  ✓ {text}")
    for text in report["not_checked"]:
        print(f"  · not checked: {text}")
    for finding in report["findings"]:
        mark = "✗" if finding["severity"] == "error" else "!"
        print(f"  {mark} {finding['code']} at {finding['record']}")
        print(f"      expected {finding['expected']}")
        print(f"      found    {finding['found']}")
    print(f"\nverdict: {report['verdict'].upper()}")


def print_round(report: dict[str, Any]) -> None:
    """Prints a round's cards, rules and settlements as far as the report has them."""
    if "round" in report:
        print(f"round {report['round']}", end="")
        print(f" of {report['game']}" if "game" in report else "")
    if report.get("player_cards"):
        print(f"  Player  {' '.join(report['player_cards']):10} total {report['player_total']}")
        print(f"  Banker  {' '.join(report['banker_cards']):10} total {report['banker_total']}")
    for step in report.get("steps", []):
        print(f"  {step}")
    if "outcome" in report:
        print(f"  Outcome: {report['outcome']}")
    if report.get("settlements"):
        headers = ("wager", "spot", "stake", "result", "gross return", "commission", "paid")
        keys = ("wager_id", "spot", "stake", "result", "gross_return", "commission", "paid")
        rows = [[str(settled[key]) for key in keys] for settled in report["settlements"]]
        print(table(headers, rows))
    print()


def print_shoe(report: dict[str, Any], cards: Sequence[str]) -> None:
    """Prints the shoe of a replayed round, the round's own cards in brackets."""
    first = report["first_position"]
    used = range(first, first + len(report["player_cards"]) + len(report["banker_cards"]))
    print(f"shoe {report['shoe_number']} of {report['table']}, {report['decks']} decks")
    print(f"  seed commitment {report['seed_commitment']}")
    print(f"  cards root      {report['cards_root']}")
    if not cards:
        return
    print(f"  seed            {report['seed']}")
    for start in range(0, len(cards), 26):
        row = [
            f"[{c}]" if i in used else f" {c} "
            for i, c in enumerate(cards[start : start + 26], start)
        ]
        print(f"  {start:3d} {''.join(row)}")
    print()


def print_log(report: dict[str, Any]) -> None:
    """Prints a log's totals."""
    if "games" not in report:
        return
    print(f"log {report['origin']}: {report['size']:,} records, {report['tables']} tables\n")
    rows: list[list[str]] = []
    for name, game in report["games"].items():
        rounds = game["rounds"]
        shares = [
            f"{100 * game['outcomes'][o] / max(1, rounds):.2f} %"
            for o in ("banker", "player", "tie")
        ]
        void_rate = f"{100 * game['voided'] / max(1, rounds + game['voided']):.2f} %"
        rows.append([name, f"{rounds:,}", *shares, str(game["voided"]), void_rate])
    print(table(("game", "rounds", "Banker", "Player", "Tie", "voided", "void rate"), rows))
    print()
    for shoe in report["unclosed_shoes"][:20]:
        text = f"shoe {shoe['shoe_number']} of {shoe['table']}: {shoe['cards_dealt']} cards dealt"
        print(f"  open: {text}, last record {shoe['age_s']} s ago")
    if len(report["unclosed_shoes"]) > 20:
        print(f"  open: {len(report['unclosed_shoes']) - 20} more shoes (--json lists all)")
    for opened in report["unfinished_rounds"]:
        print(
            f"  undealt: {opened['round']} with {opened['wagers']} wagers, {opened['age_s']} s old"
        )
    for voided in report["undealt"]:
        known = voided["would_have_paid"]
        outcome = known["outcome"] if known else "unknown until the reveal"
        print(f"  voided: {voided['round']} ({voided['cause']}), would have been: {outcome}")
    print()
