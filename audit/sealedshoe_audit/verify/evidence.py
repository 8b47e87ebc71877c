"""Verifies one round's evidence file, offline.

The plan, in order; each step stops at its first failure:

    1. form        the file is undamaged and canonical
    2. checkpoint  signed by a trusted key, of the trusted origin, cosigned by the quorum
    3. records     ascending; each canonical, signed by the statement key in force, and included
    4. parts       exactly the records that this round needs, no more and no less
    5. fold        the table's records from the previous result to this one follow the rules
    6. cards       the dealt cards are the ones committed to
    7. reveal      if the shoe is closed: the whole shuffle replays
    8. players     opened player commitments match their wagers
    9. receipt     if given: the player's own proof names the same opening, before the result
"""

from hashlib import sha256

from sealedshoe_audit.containers import parse_evidence, parse_receipt
from sealedshoe_audit.envelope import parse_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.head_signers import check_head_signer, verify_old_head
from sealedshoe_audit.fold.house import check_header
from sealedshoe_audit.fold.keys import (
    LogKeys,
    check_signer,
    first_keys,
    keys_after,
)
from sealedshoe_audit.fold.reveal import check_reveal, dealt_cards
from sealedshoe_audit.fold.state import OpenShoe, TableState
from sealedshoe_audit.fold.table import check_seed_or_loss
from sealedshoe_audit.log.checkpoint import Checkpoint, VerifiedCheckpoint, verify_checkpoint
from sealedshoe_audit.log.merkle import leaf_hash, split_hashes, verify_inclusion
from sealedshoe_audit.names import round_name
from sealedshoe_audit.records import Record, parse_record, player_commitment
from sealedshoe_audit.shoe.commitment import card_leaf, verify_card_range
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord
from sealedshoe_audit.verify.parts import Parts, Placed, fold_parts, sort_parts
from sealedshoe_audit.verify.report import NOTICE, Finding, Report
from sealedshoe_audit.verify.round_facts import round_json


def verify_evidence(data: bytes, trust: Trust, receipt: bytes | None = None) -> Report:
    """Returns the verdict on an evidence file, and on the player's receipt if there is one."""
    report = Report()
    about = "file"
    try:
        evidence = parse_evidence(data)
        report.checked.append("the file is undamaged and in its one canonical form")
        head = verify_checkpoint(evidence.checkpoint, trust)
        report.checked.append(_checkpoint_text(head.checkpoint, len(head.cosigned)))
        placed, keys = _verify_records(evidence, head, trust)
        report.checked.append(
            f"{len(placed)} records: each canonical, signed by the key in force, and included"
        )
        parts = sort_parts(placed, evidence.round_number)
        about = round_name(parts.table, evidence.round_number)
        report.facts["round"] = about
        before, after = fold_parts(parts)
        report.checked.append(
            "the round follows the table's previous result, the rules and the settlement of "
            f"{parts.game.game_id} version {parts.game.version}"
        )
        _verify_round(report, trust.origin, evidence, parts, before, after)
        if parts.game.free_rounds:
            report.not_checked.append("free rounds dealt earlier in the shoe: verify the log")
        _verify_players(report, evidence, parts)
        _verify_cosigned_head(report, evidence.cosigned_head, trust, keys, parts)
        if receipt is not None:
            _verify_receipt(report, receipt, trust, keys, parts)
    except VerificationError as error:
        report.findings.append(Finding.of(error, about))
    _state_limits(report, receipt is not None and report.valid)
    return report


def _checkpoint_text(checkpoint: Checkpoint, cosigned: int) -> str:
    text = f"the checkpoint of {checkpoint.origin} at size {checkpoint.size} is signed"
    return f"{text} and cosigned by {cosigned} witnesses" if cosigned else text


def _verify_records(
    evidence: Evidence, head: VerifiedCheckpoint, trust: Trust
) -> tuple[list[Placed], LogKeys]:
    placed: list[Placed] = []
    keys: LogKeys | None = None
    last = -1
    for logged in evidence.records:
        if logged.index <= last:
            raise VerificationError(
                Code.RECORD_ORDER, expected=f"an index above {last}", found=str(logged.index)
            )
        last = logged.index
        envelope = parse_envelope(logged.envelope)
        record = parse_record(envelope)
        if isinstance(record, pb.LogStarted) and not placed and logged.index == 0:
            keys = first_keys(record, trust.origin, trust.root_key)
        if keys is None:
            raise VerificationError(
                Code.EVIDENCE_INCOMPLETE, expected="LogStarted first", found="another record"
            )
        check_signer(envelope, record, keys)
        check_header(record.header, trust.origin)
        if isinstance(record, pb.KeyChanged):
            keys = keys_after(keys, record, logged.index)
        hashed = verify_included(logged, head.checkpoint)
        placed.append(Placed(logged.index, record, hashed))
    if keys is None:
        raise VerificationError(
            Code.EVIDENCE_INCOMPLETE, expected="LogStarted first", found="no record"
        )
    check_head_signer(head.signers, keys, head.checkpoint.size, "the checkpoint")
    return placed, keys


def verify_included(logged: LoggedRecord, checkpoint: Checkpoint) -> bytes:
    """Checks a record's inclusion path and returns its leaf hash.

    Raises:
        VerificationError: INCLUSION.
    """
    hashed = leaf_hash(logged.envelope)
    path = split_hashes(logged.inclusion_path)
    verify_inclusion(logged.index, checkpoint.size, hashed, path, checkpoint.root)
    return hashed


def _verify_round(
    report: Report,
    origin: str,
    evidence: Evidence,
    parts: Parts,
    before: TableState,
    after: TableState,
) -> None:
    target = parts.target.record
    shoe = before.shoe
    if shoe is None:
        raise VerificationError(Code.EVIDENCE_INCOMPLETE, expected="the shoe's opening", found="no")
    if isinstance(target, pb.RoundDealt):
        _verify_cards(shoe, target, split_hashes(evidence.card_proof))
        report.checked.append("the dealt cards are the ones committed to before betting")
        report.facts |= round_json(target)
    else:
        if evidence.card_proof:
            raise VerificationError(
                Code.EVIDENCE_EXTRA, expected="no card proof of a void round", found="one"
            )
        report.facts["outcome"] = "void"
    _verify_reveal(report, origin, parts, shoe, open_after=after.shoe is not None)


def _verify_cards(shoe: OpenShoe, target: pb.RoundDealt, proof: list[bytes]) -> None:
    opening = shoe.opening
    leaves = [card_leaf(card.salt, card.position, card.card) for card in target.cards]
    first = target.cards[0].position
    verify_card_range(opening.cards_root, opening.cards, opening.reach, first, leaves, proof)


def _verify_reveal(
    report: Report, origin: str, parts: Parts, shoe: OpenShoe, *, open_after: bool
) -> None:
    """Replays the shoe when this round, or a later record of the file, reveals it."""
    target = parts.target.record
    record = target if not open_after or parts.reveal is None else parts.reveal.record
    if parts.reveal is not None and not open_after:
        raise VerificationError(
            Code.EVIDENCE_EXTRA, expected="one reveal", found=f"leaf {parts.reveal.index} too"
        )
    if record is target and open_after:
        report.not_checked.append(
            "seed, shuffle and composition of the shoe: it is not revealed in this file"
        )
        return
    closing = _closing_of(record, shoe)
    if closing is None:
        lost = Finding(
            Code.SEED_UNAVAILABLE, "the shoe", "the shoe's seed", "its loss admitted", NOTICE
        )
        report.findings.append(lost)
        report.not_checked.append("seed, shuffle and composition of the shoe: its seed is lost")
        return
    dealt = dealt_cards(target) if isinstance(target, pb.RoundDealt) else []
    check_reveal(origin, parts.table, shoe.opening, closing.seed, dealt)
    report.checked.append("the revealed seed replays the whole shoe and every card dealt here")


def _closing_of(record: Record, shoe: OpenShoe) -> pb.ShoeClosing | None:
    """Returns what a record reveals of the shoe; None when it admits that the seed is lost."""
    if isinstance(record, pb.ShoeRetired):
        if record.shoe_opening_hash != shoe.opening_hash:
            raise VerificationError(
                Code.SHOE_OPENING,
                expected=shoe.opening_hash.hex(),
                found=record.shoe_opening_hash.hex(),
            )
        check_seed_or_loss(record)
        return None if record.seed_unavailable else record.closing
    if isinstance(record, pb.RoundDealt) and record.HasField("closing"):
        return record.closing
    raise VerificationError(Code.EVIDENCE_EXTRA, expected="a reveal", found="another record")


def _verify_players(report: Report, evidence: Evidence, parts: Parts) -> None:
    wagers = {wager.wager_id: wager for wager in parts.wagers()}
    seen: set[str] = set()
    for player in evidence.players:
        wager = wagers.get(player.wager_id)
        if wager is None or player.wager_id in seen or len(player.salt) != 16:
            raise VerificationError(
                Code.PLAYER_OPENING, expected="one opening a wager", found=player.wager_id[:64]
            )
        seen.add(player.wager_id)
        commitment = player_commitment(player.salt, player.reference)
        if commitment != wager.player_commitment:
            raise VerificationError(
                Code.PLAYER_OPENING, expected=wager.player_commitment.hex(), found=commitment.hex()
            )
    if seen:
        report.checked.append(f"{len(seen)} wagers belong to the players named in the file")
        report.facts["players"] = {p.wager_id: p.reference for p in evidence.players}


def _verify_cosigned_head(
    report: Report, note: bytes, trust: Trust, keys: LogKeys, parts: Parts
) -> None:
    """The cosigned head that the round's opening names: the opening is younger than its witnesses say."""
    opening = parts.opening_of_round().record
    named = opening.cosigned_head_hash if isinstance(opening, pb.RoundOpened) else b""
    if not note:
        return
    if sha256(note).digest() != named:
        raise VerificationError(
            Code.EVIDENCE_EXTRA,
            expected=f"the cosigned head {named.hex() or 'none'}",
            found="another",
        )
    cosigned = verify_old_head(note, trust, keys, "the cosigned head").cosigned
    if cosigned:
        report.facts["opened_after_s"] = min(cosigned.values())
        report.checked.append(
            f"the round was opened after {len(cosigned)} witnesses had cosigned the head it names"
        )


def _verify_receipt(report: Report, data: bytes, trust: Trust, keys: LogKeys, parts: Parts) -> None:
    receipt = parse_receipt(data)
    head = verify_old_head(receipt.checkpoint, trust, keys, "the receipt's head").checkpoint
    hashed = verify_included(receipt.opening, head)
    opening = parts.opening_of_round()
    if hashed != opening.leaf or receipt.opening.index != opening.index:
        raise VerificationError(Code.RECEIPT, expected=opening.leaf.hex(), found=hashed.hex())
    if head.size > parts.target.index:
        raise VerificationError(
            Code.RECEIPT,
            expected=f"a head of at most {parts.target.index} leaves",
            found=str(head.size),
        )
    report.checked.append("the player's receipt shows the opening under a head without the result")


def _state_limits(report: Report, receipt: bool) -> None:
    report.not_checked += [
        "that no other result or void of this round stands elsewhere in the log: verify the log",
        "positions before the previous result",
        "changes of keys that are not in the file",
        "the head named by the round's opening: verify the log",
    ]
    if not receipt:
        report.not_checked.append(
            "that the opening was public before the bet: needs a cosigned head, a time stamp, or "
            "the player's own receipt"
        )
