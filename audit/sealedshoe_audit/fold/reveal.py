"""A revealed seed against its opening and against the cards that were dealt."""

from collections.abc import Iterable

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.shoe.commitment import Shoe, build_shoe, seed_commitment
from sealedshoe_audit.shoe.seed import seed_bytes
from sealedshoe_audit.shoe.words import WordsExhausted
from sealedshoe_audit.v1 import records_pb2 as pb

# One dealt card: position, code, salt.
Dealt = tuple[int, int, bytes]


def dealt_cards(record: pb.RoundDealt) -> list[Dealt]:
    """Returns a result's cards as the reveal is compared with."""
    return [(card.position, card.card, card.salt) for card in record.cards]


def check_reveal(
    origin: str, table: str, opening: pb.ShoeOpening, seed: bytes, dealt: Iterable[Dealt]
) -> Shoe:
    """Replays the whole shoe from its revealed seed.

    1. The seed has its length and matches the seed commitment.
    2. Expansion, shuffle and salts lead to the committed card tree.
    3. Every card dealt stood at its position, under its salt.

    Returns:
        The shoe, for those who want to see the rest of it.

    Raises:
        VerificationError: SEED_COMMITMENT, CARDS_ROOT or CARD_MISMATCH.
    """
    decks = opening.cards // 52
    if len(seed) != seed_bytes(decks):
        raise VerificationError(
            Code.SEED_COMMITMENT, expected=f"{seed_bytes(decks)} bytes", found=str(len(seed))
        )
    commitment = seed_commitment(seed)
    if commitment != opening.seed_commitment:
        raise VerificationError(
            Code.SEED_COMMITMENT, expected=opening.seed_commitment.hex(), found=commitment.hex()
        )
    identity = shoe_identity(origin, table, opening.shoe_number, decks)
    try:
        shoe = build_shoe(seed, identity, decks, opening.reach)
    except WordsExhausted as error:
        raise VerificationError(Code.CARDS_ROOT, expected="a shoe", found=str(error)) from error
    if shoe.cards_root != opening.cards_root:
        raise VerificationError(
            Code.CARDS_ROOT, expected=opening.cards_root.hex(), found=shoe.cards_root.hex()
        )
    for position, card, salt in dealt:
        if shoe.order[position] != card or shoe.salt(position) != salt:
            raise VerificationError(
                Code.CARD_MISMATCH,
                expected=f"card {shoe.order[position]} at {position}",
                found=f"card {card}",
            )
    return shoe
