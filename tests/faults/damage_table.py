"""Every damage of a server's files and tables, with who finds it."""

from functools import partial

from tests.faults.damage import Damage, damaged, flipped, missing, spoilt, torn
from tests.faults.row import Row

KEPT = "kept"
FILES: list[tuple[str, str, Damage, str]] = [
    ("data/log.db", "torn", torn, "?"),
    ("data/log.db", "first byte flipped", partial(flipped, at=0), "?"),
    ("data/log.db", "missing", missing, "?"),
    ("data.guard", "torn", torn, "?"),
    ("data.guard", "torn in its first slot", lambda p: p.write_bytes(p.read_bytes()[:500]), "?"),
    ("data.guard", "flipped in slot 0", partial(flipped, at=30), KEPT),
    ("data.guard", "flipped in slot 1", partial(flipped, at=1054), KEPT),
    ("data.guard", "flipped in both", lambda p: (flipped(p, 30), flipped(p, 1054)) and None, "?"),
    ("data.guard", "missing", missing, "?"),
    ("data.heads", "torn", torn, KEPT),
    ("data.heads", "flipped", flipped, KEPT),
    ("data.heads", "missing", missing, KEPT),
]
for _name in ("trust.json", "vkey"):
    FILES += [(f"data/{_name}", h.__name__, h, KEPT) for h in (torn, flipped, missing)]
for _name in ("statement.pem", "checkpoint.pem", "sealing.key"):
    FILES += [(f"data/keys/{_name}", h.__name__, h, "?") for h in (torn, flipped, missing)]
FILES += [("data/keys/root.pem", h.__name__, h, KEPT) for h in (torn, flipped, missing)]
WAL: list[tuple[str, str, Damage, str]] = [
    ("data/log.db-wal", h.__name__, h, "?") for h in (torn, flipped, missing)
]

FLIP = "CAST(x'ff' || substr({0}, 2) AS BLOB)"
SQL: list[tuple[str, str]] = [
    ("UPDATE meta SET value = 'x'", "?"),
    ("DELETE FROM meta", "?"),
    ("UPDATE entries SET envelope = CAST('x' || substr(envelope, 2) AS BLOB) WHERE idx = 5", "?"),
    ("UPDATE entries SET leaf = zeroblob(32) WHERE idx = 5", "?"),
    ("UPDATE entries SET table_id = 'x' WHERE idx = 12", "?"),
    ("UPDATE entries SET sequence = 999 WHERE idx = 12", "?"),
    ("DELETE FROM entries WHERE idx = 5", "?"),
    ("DELETE FROM entries WHERE idx = (SELECT max(idx) FROM entries)", "?"),
    ("UPDATE heads SET text = 'x' WHERE size = (SELECT max(size) FROM heads)", "?"),
    ("UPDATE heads SET text = 'x' || text WHERE size > 15 AND size < (SELECT max(size) FROM heads)", "?"),
    ("UPDATE heads SET time_us = time_us + 3600000000", "?"),
    ("DELETE FROM heads WHERE size = (SELECT max(size) FROM heads)", "?"),
    ("DELETE FROM heads WHERE size > 15 AND size < (SELECT max(size) FROM heads)", "?"),
    ("UPDATE head SET size = size - 1", "?"),
    ("UPDATE head SET edge = zeroblob(length(edge))", "?"),
    ("UPDATE head SET text = 'x'", "?"),
    ("DELETE FROM head", "?"),
    ("UPDATE games SET idx = 3", "?"),
    ("DELETE FROM games", "?"),
    ("UPDATE tables SET sequence = sequence - 1 WHERE table_id = 'a'", "?"),
    ("UPDATE tables SET snapshot = CAST('x' || substr(snapshot, 2) AS BLOB) WHERE table_id = 'a'", "?"),
    ("UPDATE tables SET no_round_reason = 'x' WHERE table_id = 'a'", "?"),
    ("DELETE FROM tables WHERE table_id = 'a'", "?"),
    ("UPDATE rounds SET state = 3", "?"),
    ("UPDATE rounds SET result_index = 1 WHERE result_index IS NOT NULL", "?"),
    ("UPDATE rounds SET opened_index = opened_index + 1000", "?"),
    ("DELETE FROM rounds", "?"),
    ("UPDATE shoes SET commitment = CAST('x' || substr(commitment, 2) AS BLOB)", "?"),
    ("UPDATE shoes SET sealed = CAST('x' || substr(sealed, 2) AS BLOB)", "?"),
    ("UPDATE shoes SET opened_index = 1", "?"),
    ("DELETE FROM shoes", "?"),
    ("UPDATE players SET reference = 'x'", "?"),
    ("UPDATE players SET salt = zeroblob(length(salt))", "?"),
    ("DELETE FROM players", "?"),
    ("UPDATE requests SET answer = CAST('x' || substr(answer, 2) AS BLOB)", "?"),
    ("UPDATE requests SET request_hash = zeroblob(32)", "?"),
    ("UPDATE requests SET head_size = head_size - 1", "?"),
    ("DELETE FROM requests", "?"),
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
