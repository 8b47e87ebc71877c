"""Makes worked_example.json: a whole log of one table and one round, from fixed keys, seed and times.

Run from the repository's root: `python tests/vectors/worked_example/make.py`. The records are put together
here field by field; only hashing, signing and the fold come from the audit package.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.baccarat.cards import card_text
from sealedshoe_audit.baccarat.definition_file import parse_definition
from sealedshoe_audit.baccarat.rules import deal
from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.definition_record import definition_message, odds_messages
from sealedshoe_audit.envelope import pre_authentication
from sealedshoe_audit.fold.result import settlements
from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import Frontier, inclusion_ranges, leaf_hash, range_hash
from sealedshoe_audit.log.note import TYPE_ED25519, VerifierKey, sign_note
from sealedshoe_audit.records import PAYLOAD_TYPES, log_start_message, player_commitment
from sealedshoe_audit.shoe.commitment import build_shoe
from sealedshoe_audit.shoe.seed import expand, seed_bytes
from sealedshoe_audit.signing import key_id, public_bytes
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord, PlayerOpening, Receipt

HERE = Path(__file__).parent
GAMES = Path("audit/sealedshoe_audit/baccarat/games")
ORIGIN = "example.test/sealedshoe"
TABLE = "7"
START_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
BY = pb.Accountability(actor="operator", authorised_by="duty manager", reason="worked example")


def fixed_key(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sha256(f"worked example {name}".encode()).digest())


class WorkedLog:
    """Leaves and what is known of them."""

    def __init__(self) -> None:
        self.keys = {name: fixed_key(name) for name in ("root", "statement", "checkpoint")}
        self.leaves: list[bytes] = []
        self.records: list[dict[str, Any]] = []
        self.frontier = Frontier()
        self.hashes: dict[tuple[int, int], bytes] = {}

    def header(self) -> pb.Header:
        return pb.Header(version=1, origin=ORIGIN, time_us=START_US + 1_000_000 * len(self.leaves))

    def append(self, record: Any) -> bytes:
        """Signs and appends a record; returns its leaf hash."""
        kind = PAYLOAD_TYPES[type(record)]
        payload = record.SerializeToString(deterministic=True)
        signed = pre_authentication(kind, payload)
        statement = self.keys["statement"]
        envelope = pb.Envelope(
            payload_type=kind,
            payload=payload,
            keyid=key_id(public_bytes(statement)),
            signature=statement.sign(signed),
        ).SerializeToString(deterministic=True)
        leaf = leaf_hash(envelope)
        for level, index, node in self.frontier.append(leaf):
            self.hashes[level, index] = node
        self.leaves.append(envelope)
        self.records.append(
            {
                "kind": type(record).__name__,
                "payload_type": kind,
                "payload": payload.hex(),
                "pae_sha256": sha256(signed).hexdigest(),
                "envelope": envelope.hex(),
                "leaf_hash": leaf.hex(),
            }
        )
        return leaf

    def checkpoint(self) -> bytes:
        head = Checkpoint(ORIGIN, self.frontier.size, self.frontier.root())
        return sign_note(head.text(), ORIGIN, self.keys["checkpoint"])

    def logged(self, index: int) -> LoggedRecord:
        path = [
            range_hash(low, high, lambda level, i: self.hashes[level, i])
            for low, high in inclusion_ranges(index, self.frontier.size)
        ]
        return LoggedRecord(index=index, envelope=self.leaves[index], inclusion_path=b"".join(path))


def main() -> None:
    log = WorkedLog()
    game = parse_definition((GAMES / "punto-banco-6d.toml").read_text("utf-8"))
    started = pb.LogStarted(
        header=log.header(),
        root_key=public_bytes(log.keys["root"]),
        statement_key=public_bytes(log.keys["statement"]),
        checkpoint_key=public_bytes(log.keys["checkpoint"]),
        software_manifest=sha256(b"worked example manifest").digest(),
    )
    started.root_signature = log.keys["root"].sign(log_start_message(started))
    log.append(started)
    log.append(
        pb.GameInstalled(
            header=log.header(),
            definition=definition_message(game),
            odds=odds_messages(game),
            by=BY,
        )
    )
    limits = game_pb2.Limits(currency="USD", minimum=100, maximum=100_000, step=20)
    created = log.append(
        pb.TableChanged(
            header=log.header(),
            link=pb.TableLink(table=TABLE, sequence=1),
            after=pb.TableState.TABLE_STATE_ENABLED,
            settings=pb.TableSettings(
                game_id=game.game_id, game_version=1, limits=limits, currency_digits=2
            ),
            by=BY,
        )
    )
    identity = shoe_identity(ORIGIN, TABLE, 1, game.decks)
    seed = bytes(i % 256 for i in range(seed_bytes(game.decks)))
    words = expand(seed, identity, game.decks)
    shoe = build_shoe(seed, identity, game.decks, game.reach)
    opening = pb.ShoeOpening(
        shoe_number=1,
        game_id=game.game_id,
        game_version=1,
        cards=game.cards,
        reach=game.reach,
        seed_commitment=shoe.seed_commitment,
        cards_root=shoe.cards_root,
        rng_instance=sha256(b"worked example instance").digest()[:16],
        shoe_counter=1,
        sealed_seed_digest=sha256(b"worked example sealed seed").digest(),
        sealing_key_id="worked-example",
    )
    opened = log.append(
        pb.RoundOpened(
            header=log.header(),
            link=pb.TableLink(table=TABLE, sequence=2, previous_hash=created),
            round_number=1,
            head_size=3,
            head_root=log.frontier.root(),
            shoe=opening,
        )
    )
    receipt = seal_receipt(Receipt(opening=log.logged(3), checkpoint=log.checkpoint()))
    finished = deal(shoe.order[:6])
    salts = {
        spot: sha256(f"worked example salt {spot}".encode()).digest()[:16]
        for spot in ("banker", "player")
    }
    wagers = [
        pb.Wager(
            wager_id=f"wager-{spot}",
            spot=spot,
            stake=stake,
            player_commitment=player_commitment(salts[spot], "player-1"),
        )
        for spot, stake in (("banker", 500), ("player", 100))
    ]
    used = len(finished.hands)
    log.append(
        pb.RoundDealt(
            header=log.header(),
            link=pb.TableLink(table=TABLE, sequence=3, previous_hash=opened),
            round_number=1,
            opening_hash=opened,
            cards=[
                pb.DealtCard(
                    position=i, card=shoe.order[i], salt=shoe.salt(i), hand=pb.Hand.ValueType(hand)
                )
                for i, hand in enumerate(finished.hands)
            ],
            player_total=finished.player_total,
            banker_total=finished.banker_total,
            natural=finished.natural,
            outcome=pb.Outcome.ValueType(finished.outcome),
            settlements=settlements(game, finished, wagers),
            closing=pb.ShoeClosing(seed=seed, cards_dealt=used),
        )
    )
    proof = shoe.prove(0, used)
    evidence = seal_evidence(
        Evidence(
            round_number=1,
            records=[log.logged(index) for index in range(5)],
            card_proof=b"".join(proof),
            players=[
                PlayerOpening(wager_id=w.wager_id, salt=salts[w.spot], reference="player-1")
                for w in wagers
            ],
            checkpoint=log.checkpoint(),
        )
    )
    key = VerifierKey(ORIGIN, TYPE_ED25519, public_bytes(log.keys["checkpoint"]))
    trust = Trust(ORIGIN, public_bytes(log.keys["root"]), (key,))
    result = {
        "origin": ORIGIN,
        "private_keys": {
            name: log.keys[name].private_bytes_raw().hex() for name in sorted(log.keys)
        },
        "vkey": key.text(),
        "shoe_identity": identity.hex(),
        "seed": seed.hex(),
        "seed_commitment": shoe.seed_commitment.hex(),
        "first_words": list(words[:8]),
        "order": list(shoe.order),
        "salts": [shoe.salt(i).hex() for i in range(game.reach)],
        "last_leaf_salt": shoe.salts[-16:].hex(),
        "cards_root": shoe.cards_root.hex(),
        "player_cards": [card_text(card) for card in finished.player],
        "banker_cards": [card_text(card) for card in finished.banker],
        "outcome": finished.outcome.name.lower(),
        "card_proof": [node.hex() for node in proof],
        "records": log.records,
        "checkpoint": log.checkpoint().decode(),
        "evidence": evidence.hex(),
        "receipt": receipt.hex(),
        "trust": trust.text(),
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (HERE / "worked_example.json").write_text(text, encoding="utf-8")


main()
