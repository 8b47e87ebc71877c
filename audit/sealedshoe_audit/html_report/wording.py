"""Numbers, money, times and hashes as people read them, in plain text that is not yet escaped."""

from sealedshoe_audit.currencies import CURRENCY_DIGITS, format_amount
from sealedshoe_audit.html_report.markup import THIN_SPACE

MINUS = "\u2212"
NONE = "–"
_DAY_S, _HOUR_S, _MINUTE_S = 86_400, 3600, 60


def grouped(number: int) -> str:
    """Writes a whole number in groups of three digits."""
    return _signed(f"{number:,}".replace(",", THIN_SPACE))


def amount(minor_units: int, currency: str | None) -> str:
    """Writes an amount in the currency's major unit; in minor units if the currency is not known."""
    digits = CURRENCY_DIGITS.get(currency or "")
    if digits is None:
        return f"{grouped(minor_units)} minor units"
    whole, point, rest = format_amount(minor_units, digits).partition(".")
    sign, units = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return _signed(f"{sign}{int(units):,}".replace(",", THIN_SPACE) + point + rest)


def percent(part: int, whole: int, digits: int = 2) -> str:
    """Writes part / whole in percent; a dash when there is no whole."""
    return share_percent(part / whole, digits) if whole else NONE


def share_percent(share: float, digits: int = 2) -> str:
    """Writes a share, 1 for all, in percent."""
    return _signed(f"{100 * share:.{digits}f}") + f"{THIN_SPACE}%"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Writes a number with its noun: `1 error`, `2 errors`."""
    return f"{grouped(number)} {one if number == 1 else many or f'{one}s'}"


def moment(time_us: int) -> str:
    """Writes a time, given in microseconds since 1970 UTC."""
    days, second = divmod(time_us // 1_000_000, _DAY_S)
    hour, second = divmod(second, _HOUR_S)
    minute, second = divmod(second, _MINUTE_S)
    return f"{_date(days)} {hour:02d}:{minute:02d}:{second:02d} UTC"


def _date(days: int) -> str:
    """Writes the Gregorian date of a day counted from 1970-01-01; unlike datetime's, years go on.

    Source: H. Hinnant, chrono-compatible low-level date algorithms, civil_from_days. Years start in
    March, so that a leap day is the last; an era is 400 years.
    """
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    month += 3 if month < 10 else -9
    return f"{400 * era + year + (month <= 2):04d}-{month:02d}-{day + 1:02d}"


def duration(seconds: int) -> str:
    """Writes a length of time in its two largest units."""
    days, rest = divmod(seconds, _DAY_S)
    hours, rest = divmod(rest, _HOUR_S)
    minutes, rest = divmod(rest, _MINUTE_S)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{grouped(count)}{THIN_SPACE}{unit}" for count, unit in parts[:2])


def hex_groups(digits: str) -> str:
    """Writes hex digits in groups of four, to be compared by eye or by phone."""
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))


def sentence_case(words: str) -> str:
    """Writes `operator_error` as `Operator error`."""
    return words[:1].upper() + words[1:].replace("_", " ")


def _signed(number: str) -> str:
    return number.replace("-", MINUS)
