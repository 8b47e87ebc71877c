"""Where an auditor stands in a log, so that the next run goes on from there.

The file is the auditor's own and is trusted as such; its digest is against damage. What was true at that
head is not checked again: the tree's edge in it ties the next run to the very same records.
"""

from hashlib import sha256

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.definition_record import definition_message, read_definition
from sealedshoe_audit.errors import Code, DefinitionError, VerificationError
from sealedshoe_audit.fold.heads import RecentHeads
from sealedshoe_audit.fold.keys import LogKeys
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.fold.state import restore
from sealedshoe_audit.log.merkle import Frontier, split_hashes
from sealedshoe_audit.signing import SigningKey
from sealedshoe_audit.v1.state_pb2 import (
    CheckpointKey,
    DealtSnapshot,
    InstanceCounter,
    KeysSnapshot,
    TimesSnapshot,
    VerifierPosition,
)

FORMAT = "sealedshoe/v1/position"


def position_of(fold: LogFold, seeds: int, times: TimesSnapshot) -> bytes:
    """Returns the file's bytes.

    Args:
        seeds: number of seed commitments in the register kept beside it.
        times: as `Times.snapshot` gives it.
    """
    keys = fold.keys
    message = VerifierPosition(
        format=FORMAT,
        origin=fold.origin,
        size=fold.frontier.size,
        edge=fold.frontier.edge(),
        recent_roots=b"".join(fold.heads.roots()),
        seeds=seeds,
        games=[definition_message(game) for game in fold.games.values()],
        tables=[state.snapshot() for state in fold.tables.values()],
        dealt=[
            DealtSnapshot(table=table, position=position, card=card, salt=salt)
            for table, cards in fold.dealt.items()
            for position, card, salt in cards
        ],
        counters=[InstanceCounter(instance=i, counter=c) for i, c in fold.counters.items()],
        keys=None if keys is None else _keys_message(keys),
        predecessor=fold.predecessor,
        inherited=fold.inherited,
        may_inherit=fold.may_inherit,
        closing=fold.closing,
        times=times,
    )
    body = message.SerializeToString(deterministic=True)
    return body + sha256(body).digest()


def _keys_message(keys: LogKeys) -> KeysSnapshot:
    return KeysSnapshot(
        root=keys.root,
        statement=b"" if keys.statement is None else keys.statement.public_key,
        checkpoints=[CheckpointKey(first_size=size, key=key) for size, key in keys.checkpoints],
        sealing=keys.sealing,
        revoked=sorted(keys.revoked),
        retired=sorted(keys.retired),
    )


def take_position(fold: LogFold, data: bytes) -> tuple[int, TimesSnapshot]:
    """Puts a new fold where the file says; returns how many seed commitments are known there, and times.

    Raises:
        VerificationError: PARSE, DIGEST_MISMATCH, FORMAT, UNKNOWN_FIELD, NOT_CANONICAL, ORIGIN_MISMATCH,
            or ROOT_KEY when the position was reached under another root key.
    """
    message = _parse(data)
    if message.origin != fold.origin:
        raise VerificationError(
            Code.ORIGIN_MISMATCH, expected=fold.origin, found=message.origin[:200]
        )
    try:
        _restore(fold, message)
    except (ValueError, KeyError, IndexError, ZeroDivisionError, DefinitionError) as error:
        raise VerificationError(
            Code.PARSE, expected="a position that hangs together", found=ascii(str(error)[:200])
        ) from error
    if fold.keys is not None and fold.keys.root != fold.root_key:
        raise VerificationError(
            Code.ROOT_KEY, expected=fold.root_key.hex(), found=fold.keys.root.hex()
        )
    return message.seeds, message.times


def _restore(fold: LogFold, message: VerifierPosition) -> None:
    fold.frontier = Frontier.from_edge(message.size, message.edge)
    fold.heads = RecentHeads(message.size, split_hashes(message.recent_roots))
    for definition in message.games:
        game = read_definition(definition)
        fold.games[game.game_id, game.version] = game
    for table in message.tables:
        settings = table.settings
        game = fold.games[settings.game_id, settings.game_version]
        fold.tables[table.table] = restore(table, game)
    for card in message.dealt:
        fold.dealt.setdefault(card.table, []).append((card.position, card.card, card.salt))
    fold.counters.update({item.instance: item.counter for item in message.counters})
    fold.keys = _keys(message.keys) if message.HasField("keys") else None
    fold.predecessor = message.predecessor if message.HasField("predecessor") else None
    fold.inherited.extend(message.inherited)
    fold.may_inherit = message.may_inherit
    fold.closing = message.closing if message.HasField("closing") else None


def _parse(data: bytes) -> VerifierPosition:
    body, digest = data[:-32], data[-32:]
    if sha256(body).digest() != digest:
        raise VerificationError(Code.DIGEST_MISMATCH, expected=digest.hex(), found="another file")
    message = parse_canonical(VerifierPosition, body)
    if message.format != FORMAT:
        raise VerificationError(Code.FORMAT, expected=FORMAT, found=message.format[:100])
    return message


def _checkpoints(message: KeysSnapshot) -> tuple[tuple[int, bytes], ...]:
    """The first signs heads from size 0 on, as every log has it."""
    found = tuple((item.first_size, item.key) for item in message.checkpoints)
    if not found or found[0][0] != 0 or list(found) != sorted(found, key=lambda item: item[0]):
        raise ValueError("checkpoint keys in the order of their sizes")
    return found


def _keys(message: KeysSnapshot) -> LogKeys:
    return LogKeys(
        root=message.root,
        statement=SigningKey.of(message.statement) if message.statement else None,
        checkpoints=_checkpoints(message),
        sealing=message.sealing,
        revoked=frozenset(message.revoked),
        retired=frozenset(message.retired),
    )
