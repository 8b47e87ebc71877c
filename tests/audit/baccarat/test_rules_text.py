"""Players read what the settling data says, whole."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sealedshoe_audit.baccarat.bets import Bet, BetResult
from sealedshoe_audit.baccarat.definition import GameLimits
from sealedshoe_audit.baccarat.odds import theoretical_return
from sealedshoe_audit.baccarat.rules_text import case_text, percent, rules_text
from sealedshoe_audit.baccarat.settlement import Rounding
from tests.audit.baccarat.bets_data import BETS, win
from tests.audit.baccarat.games import GAMES, game

PLAYER = "Player wins: pays 1 to 1 (2 for 1)"
BANKER = "Banker wins: pays 1 to 1 less 5 % commission on the winnings = 19 to 20 (39 for 20)"
TIE_8 = "a tie: pays 8 to 1 (9 for 1)"
TIE_9 = "a tie: pays 9 to 1 (10 for 1)"
PUSH = "a tie: the stake is returned"
EVERY_ROUND = "shuffled anew for every round."
CUT_CARD = "dealt through to a cut card 14 cards from the end. No card is burned."
TABLE_LIMITS = "The table sets the limits of a player's stake on a spot."

LINES = {
    "punto-banco-6d": ["6 decks of 52 cards, " + EVERY_ROUND, TIE_8, TABLE_LIMITS],
    "punto-banco-8d-tie9": [
        "8 decks of 52 cards, " + EVERY_ROUND,
        TIE_9,
        "A player's stake on a spot: 5.00 to 100.00 USD.",
    ],
    "mini-baccarat-8d": [
        "8 decks of 52 cards, " + EVERY_ROUND,
        TIE_8,
        "A player's stake on a spot: 5.00 to 500.00 USD.",
    ],
    "classic-8d-tie9": [
        "8 decks of 52 cards, " + EVERY_ROUND,
        TIE_9,
        "A player's stake on a spot: 1 to 1000 units.",
    ],
    "shoe-6d": ["6 decks of 52 cards, " + CUT_CARD, TIE_8, TABLE_LIMITS],
    "shoe-7d": ["7 decks of 52 cards, " + CUT_CARD, TIE_8, TABLE_LIMITS],
    "shoe-8d": ["8 decks of 52 cards, " + CUT_CARD, TIE_8, TABLE_LIMITS],
}
RETURNS = {
    6: ("Player: exact return 98.762585 %", "Banker: exact return 98.944151 %"),
    8: ("Player: exact return 98.764919 %", "Banker: exact return 98.942094 %"),
}


@pytest.mark.parametrize("game_id", GAMES)
def test_the_text_of_a_game_says_every_pay_limit_and_return(game_id: str) -> None:
    definition = game(game_id)
    lines = [line.strip() for line in rules_text(definition).splitlines()]
    expected = [PLAYER, BANKER, PUSH, *LINES[game_id], *RETURNS.get(definition.decks, ())]
    assert [line for line in expected if line not in lines] == []
    assert lines.count(PUSH) == 2
    assert lines.count("otherwise: the stake is lost") == 3


@pytest.mark.parametrize("game_id", GAMES)
def test_every_offered_bet_has_its_pays_to_one_in_the_text(game_id: str) -> None:
    definition = game(game_id)
    text = rules_text(definition)
    for bet in definition.bets:
        block = text.split(f"  {bet.title}: exact return")[1].split(": exact return")[0]
        for case in bet.cases:
            if case.result is BetResult.WIN:
                assert f"pays {case.pays.numerator} to {case.pays.denominator} " in block


@pytest.mark.parametrize("name", BETS)
def test_every_side_bet_would_have_its_pays_to_one_in_the_text(name: str) -> None:
    for case in BETS[name].cases:
        if case.result is BetResult.WIN:
            assert f" {case.net.numerator} to {case.net.denominator} (" in case_text(case)
            assert "to" in case_text(case).split("pays")[1]


@pytest.mark.parametrize("game_id", GAMES)
def test_lines_have_at_most_100_characters(game_id: str) -> None:
    assert max(len(line) for line in rules_text(game(game_id)).splitlines()) <= 100


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (win("40", outcome=2, banker_total=7, banker_cards=3),
         "Banker wins and banker total 7 and banker cards 3: pays 40 to 1 (41 for 1)"),
        (win("0.54", cards=(5, 6)), "cards 5 or 6: pays 27 to 50 (77 for 50)"),
        (win("11", player_pair=1), "player pair: pays 11 to 1 (12 for 1)"),
        (win("1", player_natural=0), "no player natural: pays 1 to 1 (2 for 1)"),
        (win("3/2", outcome=(1, 2)), "Player wins or Banker wins: pays 3 to 2 (5 for 2)"),
        (win("1"), "otherwise: pays 1 to 1 (2 for 1)"),
    ],
)  # fmt: skip
def test_a_case_is_said_in_words(case: object, text: str) -> None:
    assert case_text(case) == text  # type: ignore[arg-type]


def test_the_drawing_rules_say_every_row_of_the_chart() -> None:
    text = rules_text(game("shoe-8d"))
    for row in (
        "0 to 2: Banker draws.",
        "3: Banker draws unless the third card is an 8.",
        "4: Banker draws on a third card of 2 to 7.",
        "5: Banker draws on a third card of 4 to 7.",
        "6: Banker draws on a third card of 6 or 7.",
        "7: Banker stands.",
    ):
        assert f"  {row}\n" in text
    assert "Banker draws\non 0 to 5 and stands on 6 and 7" in text


@pytest.mark.parametrize(
    ("after", "sentence"),
    [(1, "finished and one more round is dealt;"), (0, "finished and no further round is dealt;")],
)
def test_the_text_says_what_follows_the_cut_card(after: int, sentence: str) -> None:
    assert sentence in rules_text(replace(game("shoe-8d"), rounds_after_cut=after))


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Rounding.EXACT, "A payment is never rounded: the bet step makes every payment whole."),
        (Rounding.DOWN, "A payment is rounded down to the minor unit."),
        (Rounding.HALF_UP, "A payment is rounded to the nearest minor unit, halves up."),
        (Rounding.HALF_EVEN, "A payment is rounded to the nearest minor unit, halves to even."),
        (Rounding.UP, "A payment is rounded up to the minor unit."),
    ],
)
def test_the_text_names_the_rounding_rule(rule: Rounding, sentence: str) -> None:
    assert f"\n{sentence}\n" in rules_text(replace(game("shoe-8d"), rounding=rule))


def test_limits_pace_and_free_rounds_are_in_the_text_when_there_are_any() -> None:
    plain = game("shoe-8d")
    full = replace(
        plain,
        limits=(GameLimits("KWD", 3, 1000, 50_000), GameLimits("JPY", 0, 100, 5000)),
        free_rounds=3,
        round_interval_ms=2500,
    )
    text = rules_text(full)
    assert "A player's stake on a spot: 1.000 to 50.000 KWD.\n" in text
    assert "A player's stake on a spot: 100 to 5000 JPY.\n" in text
    assert "Up to 3 rounds a shoe may be dealt without a bet.\n" in text
    assert "At least 2500 ms pass between two results.\n" in text
    assert "without a bet" not in rules_text(plain)
    assert TABLE_LIMITS not in text


def test_one_deck_is_said_in_the_singular() -> None:
    player = game("shoe-8d").bets[0]
    bet = Bet(
        player.id, player.title, player.cases, theoretical_return(player, 1), *(Fraction(0),) * 2
    )
    assert "\n1 deck of 52 cards, " in rules_text(replace(game("shoe-8d"), decks=1, bets=(bet,)))


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        ("1/20", "5"),
        ("1/3", "33.333333"),
        ("2/3", "66.666667"),
        ("1", "100"),
        ("0", "0"),
        ("19/20", "95"),
        ("1/200000000", "0.000001"),
        ("1/200000001", "0"),
    ],
)
def test_a_percentage_has_six_digits_rounded_half_up(ratio: str, text: str) -> None:
    assert percent(Fraction(ratio)) == text
