"""New shoes from the certified RNG, and open shoes back from their sealed seeds."""

from collections.abc import Callable, Sequence
from hashlib import sha256

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.shoe.commitment import Shoe, build_shoe
from sealedshoe_audit.shoe.words import WordsExhausted
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng, RngFailed
from sealedshoe_server.dealing.draft import NewShoe
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.sealing import SALT_BYTES, SealBroken, Sealer


class ShoeMaker:
    """Draws, commits to and seals shoes of one log."""

    def __init__(
        self, origin: str, rng: CertifiedRng, sealer: Sealer, alarm: Callable[[str], None]
    ) -> None:
        """Binds the log's origin, the process's RNG and the sealing key in force.

        Args:
            alarm: told at once why no new shoe can be made.
        """
        self._alarm = alarm
        self._origin = origin
        self._rng = rng
        self._sealer = sealer
        self._sealers = {sealer.key_id: sealer}

    def seal_with(self, sealer: Sealer, others: Sequence[Sealer]) -> None:
        """Seals new shoes with this key from now on; opens those sealed with the others too."""
        self._sealer = sealer
        self._sealers = {one.key_id: one for one in (*others, sealer)}

    @property
    def sealing_key_id(self) -> str:
        """Id of the key that seals new shoes."""
        return self._sealer.key_id

    def draw(self, table: str, shoe_number: int, game: GameDefinition, head_root: bytes) -> NewShoe:
        """Draws a seed and derives its shoe; called only inside the append that commits it.

        Raises:
            GameError: RNG_FAILED.
        """
        identity = shoe_identity(self._origin, table, shoe_number, game.decks)
        try:
            drawn = self._rng.draw_seed(identity, game.decks, head_root)
        except RngFailed as error:
            self._alarm(str(error))
            raise GameError(
                Reason.RNG_FAILED, "no new shoe can be made: an operator must resume the RNG"
            ) from error
        try:
            shoe = build_shoe(drawn.seed, identity, game.decks, game.reach)
        except WordsExhausted as error:
            self._alarm(str(error))
            raise GameError(Reason.RNG_FAILED, "the words of a seed ran out") from error
        salt = self._rng.random_bytes(SALT_BYTES)
        sealed = self._sealer.seal(drawn.seed, identity, shoe.seed_commitment, salt)
        opening = pb.ShoeOpening(
            shoe_number=shoe_number,
            game_id=game.game_id,
            game_version=game.version,
            cards=game.cards,
            reach=game.reach,
            seed_commitment=shoe.seed_commitment,
            cards_root=shoe.cards_root,
            rng_instance=drawn.instance,
            shoe_counter=drawn.counter,
            sealed_seed_digest=sha256(sealed).digest(),
            sealing_key_id=self._sealer.key_id,
        )
        return NewShoe(shoe, opening, sealed)

    def seal_again(self, table: str, new: NewShoe) -> NewShoe:
        """Returns a shoe that was drawn and not committed yet, sealed with the key in force."""
        opening = pb.ShoeOpening()
        opening.CopyFrom(new.opening)
        identity, seed = self._identity(table, opening), new.shoe.seed
        salt = self._rng.random_bytes(SALT_BYTES)
        sealed = self._sealer.seal(seed, identity, opening.seed_commitment, salt)
        opening.sealed_seed_digest = sha256(sealed).digest()
        opening.sealing_key_id = self._sealer.key_id
        return NewShoe(new.shoe, opening, sealed)

    def reopen(self, table: str, opening: pb.ShoeOpening, sealed: bytes) -> Shoe:
        """Returns an open shoe after a restart.

        Raises:
            SealBroken: its seed cannot be had.
        """
        identity = self._identity(table, opening)
        sealer = self._sealers.get(opening.sealing_key_id)
        if sealer is None:
            raise SealBroken(f"the sealing key {opening.sealing_key_id} is missing")
        seed = sealer.open(sealed, identity, opening.seed_commitment)
        return self.derive_revealed(table, opening, seed)

    def derive_revealed(self, table: str, opening: pb.ShoeOpening, seed: bytes) -> Shoe:
        """Returns a closed shoe from the seed that its record reveals."""
        decks = opening.cards // 52
        return build_shoe(seed, self._identity(table, opening), decks, opening.reach)

    def _identity(self, table: str, opening: pb.ShoeOpening) -> bytes:
        return shoe_identity(self._origin, table, opening.shoe_number, opening.cards // 52)
