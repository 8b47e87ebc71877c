"""Amounts are written with as many digits as their currency has."""

import pytest

from sealedshoe_audit.currencies import CURRENCY_DIGITS, format_amount


@pytest.mark.parametrize(
    ("currency", "digits"),
    [
        ("USD", 2),
        ("EUR", 2),
        ("GBP", 2),
        ("MOP", 2),
        ("JPY", 0),
        ("KRW", 0),
        ("VND", 0),
        ("CLP", 0),
        ("KWD", 3),
        ("BHD", 3),
        ("TND", 3),
        ("CLF", 4),
    ],
)
def test_a_currency_has_the_digits_of_iso_4217(currency: str, digits: int) -> None:
    assert CURRENCY_DIGITS[currency] == digits


def test_every_code_is_three_capital_letters_and_has_0_to_4_digits() -> None:
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in CURRENCY_DIGITS)
    assert set(CURRENCY_DIGITS.values()) == {0, 2, 3, 4}
    assert len(CURRENCY_DIGITS) > 150


def test_the_caribbean_guilder_of_curacao_is_known() -> None:
    assert CURRENCY_DIGITS.get("XCG") == 2


@pytest.mark.parametrize("code", ["", "usd", "US", "ANG", "HRK", "XXX", "BTC"])
def test_what_is_no_currency_in_use_is_not_known(code: str) -> None:
    assert code not in CURRENCY_DIGITS


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (1950, "KWD", "1.950"),
        (1000, "KWD", "1.000"),
        (1, "KWD", "0.001"),
        (500, "USD", "5.00"),
        (5, "USD", "0.05"),
        (0, "USD", "0.00"),
        (10_000, "USD", "100.00"),
        (500, "JPY", "500"),
        (0, "JPY", "0"),
        (2**31, "USD", "21474836.48"),
        (2**63 - 1, "JPY", "9223372036854775807"),
    ],
)
def test_an_amount_is_written_as_people_read_it(minor: int, currency: str, text: str) -> None:
    assert format_amount(minor, CURRENCY_DIGITS[currency]) == text


@pytest.mark.parametrize(
    ("minor", "digits", "text"), [(-5, 2, "-0.05"), (-1950, 3, "-1.950"), (-7, 0, "-7")]
)
def test_a_debt_keeps_its_sign(minor: int, digits: int, text: str) -> None:
    assert format_amount(minor, digits) == text
