"""Every damage of a server's files and tables, with who finds it."""

from functools import partial

from tests.faults.damage import (
    Damage,
    damaged,
    flipped,
    flipped_in_both_slots,
    missing,
    other_digit,
    spoilt,
    torn,
    torn_in_the_first_slot,
)
from tests.faults.row import Row

KEPT = "kept"
NOT_OURS = "start refuses: the key files are not this log's: none is…"
FILES: list[tuple[str, str, Damage, str]] = [
    ("data/log.db", "torn", torn, "start refuses: data/log.db: database disk image is malformed"),
    (
        "data/log.db",
        "first byte flipped",
        partial(flipped, at=0),
        "start refuses: data/log.db: file is not a database",
    ),
    (
        "data/log.db",
        "missing",
        missing,
        "start refuses: data/log.db is missing or empty, but its keys are there…",
    ),
    ("data.guard", "torn", torn, "kept"),
    (
        "data.guard",
        "torn in its first slot",
        torn_in_the_first_slot,
        "start refuses: guard data.guard: damaged; only `sealedshoe recover` goes on",
    ),
    ("data.guard", "flipped in slot 0", partial(flipped, at=30), KEPT),
    ("data.guard", "flipped in slot 1", partial(flipped, at=1054), KEPT),
    (
        "data.guard",
        "flipped in both",
        flipped_in_both_slots,
        "start refuses: guard data.guard: damaged; only `sealedshoe recover` goes on",
    ),
    (
        "data.guard",
        "missing",
        missing,
        "start refuses: the guard of this log of 22 records is missing…",
    ),
    ("data.heads", "torn", torn, KEPT),
    ("data.heads", "flipped", flipped, KEPT),
    ("data.heads", "missing", missing, KEPT),
]
for _name in ("trust.json", "vkey"):
    FILES += [(f"data/{_name}", h.__name__, h, KEPT) for h in (torn, flipped, missing)]
for _name in ("statement.pem", "checkpoint.pem", "sealing.key"):
    _file = f"data/keys/{_name}"
    _kind = (
        "a sealing key is 64 hex digits"
        if "sealing" in _name
        else "not an unencrypted PEM private key"
    )
    _other = "call refuses: SEED_UNAVAILABLE" if "sealing" in _name else NOT_OURS
    FILES += [
        (_file, "torn", torn, f"start refuses: {_file}: {_kind}"),
        (_file, "flipped", other_digit, _other),
        (_file, "missing", missing, f"start refuses: {_file}: No such file or directory"),
    ]
FILES += [("data/keys/root.pem", h.__name__, h, KEPT) for h in (torn, flipped, missing)]
WAL: list[tuple[str, str, Damage, str]] = [
    ("data/log.db-wal", h.__name__, h, "start refuses: the log has…")
    for h in (torn, flipped, missing)
]

OTHER_ROOT = (
    "UPDATE heads SET text = substr(text, 1, length(text) - 45) || "
    "'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' || char(10) "
    "WHERE size > 15 AND size < (SELECT max(size) FROM heads)"
)
SQL: list[tuple[str, str]] = [
    (
        "UPDATE meta SET value = 'x'",
        "start refuses: data/log.db: the log of x, not of localhost/sealedshoe",
    ),
    (
        "DELETE FROM meta",
        "start refuses: data/log.db: the log of None, not of localhost/sealedshoe",
    ),
    (
        "UPDATE entries SET envelope = CAST('x' || substr(envelope, 2) AS BLOB) WHERE idx = 5",
        "start refuses: data/log.db: an entry does not match its hash",
    ),
    (
        "UPDATE entries SET leaf = zeroblob(32) WHERE idx = 5",
        "start refuses: data/log.db: an entry does not match its hash",
    ),
    ("UPDATE entries SET table_id = 'x' WHERE idx = 12", "kept"),
    ("UPDATE entries SET sequence = 999 WHERE idx = 12", "kept"),
    (
        "DELETE FROM entries WHERE idx = 5",
        "start refuses: data/log.db: the head or its hashes are damaged",
    ),
    (
        "DELETE FROM entries WHERE idx = (SELECT max(idx) FROM entries)",
        "start refuses: data/log.db: the head does not fit the entries",
    ),
    (
        "UPDATE heads SET text = 'x' WHERE size = (SELECT max(size) FROM heads)",
        "start refuses: data/log.db: the head does not fit the entries",
    ),
    (
        "UPDATE heads SET text = 'x' || text WHERE size > 15 AND size < (SELECT max(size) FROM heads)",
        "call refuses: STORAGE_FAILED",
    ),
    (OTHER_ROOT, "call refuses: STORAGE_FAILED"),
    ("UPDATE heads SET time_us = time_us + 3600000000", "kept"),
    (
        "DELETE FROM heads WHERE size = (SELECT max(size) FROM heads)",
        "start refuses: data/log.db: the head does not fit the entries",
    ),
    (
        "DELETE FROM heads WHERE size > 15 AND size < (SELECT max(size) FROM heads)",
        "call refuses: STORAGE_FAILED",
    ),
    (
        "UPDATE head SET size = size - 1",
        "start refuses: data/log.db: the head does not fit the entries",
    ),
    (
        "UPDATE head SET edge = zeroblob(length(edge))",
        "start refuses: data/log.db: the head's edge does not lead to its root",
    ),
    (
        "UPDATE head SET text = 'x'",
        "start refuses: data/log.db: the head or its hashes are damaged",
    ),
    (
        "UPDATE head SET key_changes = 1",
        "start refuses: data/log.db: the index of key changes is damaged",
    ),
    (
        "INSERT INTO key_changes VALUES (3)",
        "start refuses: data/log.db: the index of key changes is damaged",
    ),
    ("DELETE FROM head", "start refuses: data/log.db: the head or its hashes are damaged"),
    ("UPDATE games SET idx = 3", "start refuses…"),
    ("DELETE FROM games", "start refuses…"),
    ("UPDATE tables SET sequence = sequence - 1 WHERE table_id = 'a'", "start refuses…"),
    (
        "UPDATE tables SET snapshot = CAST('x' || substr(snapshot, 2) AS BLOB) WHERE table_id = 'a'",
        "start refuses…",
    ),
    ("UPDATE tables SET no_round_reason = 'x' WHERE table_id = 'a'", "kept"),
    ("DELETE FROM tables WHERE table_id = 'a'", "call refuses: TABLE_NOT_FOUND"),
    ("UPDATE rounds SET state = 3", "GetRound refuses: ROUND_NOT_FINISHED"),
    (
        "UPDATE rounds SET result_index = 1 WHERE result_index IS NOT NULL",
        "GetRound refuses: STORAGE_FAILED",
    ),
    ("UPDATE rounds SET opened_index = opened_index + 1000", "GetRound refuses: STORAGE_FAILED"),
    ("DELETE FROM rounds", "GetRound refuses: ROUND_NOT_FOUND"),
    (
        "UPDATE shoes SET commitment = CAST('x' || substr(commitment, 2) AS BLOB)",
        "call refuses: SEED_UNAVAILABLE",
    ),
    (
        "UPDATE shoes SET sealed = CAST('x' || substr(sealed, 2) AS BLOB)",
        "call refuses: SEED_UNAVAILABLE",
    ),
    ("UPDATE shoes SET opened_index = 1", "GetRound refuses: STORAGE_FAILED"),
    ("DELETE FROM shoes", "GetRound refuses: STORAGE_FAILED"),
    ("UPDATE players SET reference = 'x'", "kept"),
    ("UPDATE players SET salt = zeroblob(length(salt))", "kept"),
    ("DELETE FROM players", "kept"),
    (
        "UPDATE requests SET answer = CAST('x' || substr(answer, 2) AS BLOB)",
        "call refuses: STORAGE_FAILED",
    ),
    ("UPDATE requests SET request_hash = zeroblob(32)", "call refuses: STORAGE_FAILED"),
    (
        "UPDATE requests SET head_size = (SELECT max(size) FROM heads WHERE size < head_size)",
        "call refuses: STORAGE_FAILED",
    ),
    ("DELETE FROM requests", "call refuses: ROUND_NOT_OPEN"),
]

ROWS = [
    *(
        Row("damage", f"{name} {how}", found, partial(damaged, name, damage, found, False))
        for name, how, damage, found in FILES
    ),
    *(
        Row("damage", f"{name} {how}", found, partial(damaged, name, damage, found, True))
        for name, how, damage, found in WAL
    ),
    *(
        Row(
            "damage",
            sql,
            found,
            partial(damaged, "data/log.db", partial(spoilt, statement=sql), found, False),
        )
        for sql, found in SQL
    ),
]
