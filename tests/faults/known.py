"""Rows that do not hold, by name, and why: each must fail, and leaves this list once it holds."""

from tests.faults.damage_table import OTHER_ROOT

_TRUST = "a trust file that cannot be written halts the log, and names a missing key as the reason"
_SIGN = "a failed signature leaves a committed head unreleased: INTERNAL, and retries wait for ever"
_SIGNS_ROWS = "a retry signs whatever text its row in heads has, without a look at the tree"
_ANSWER = "nothing tells a damaged answer from a stored one"
_NO_GAME = "a damaged index of games ends the start with GameError, not with a refusal"

KNOWN: dict[str, str] = {
    **{
        f"key change: {name} {act}: error, {what}": _TRUST
        for name in ("trust.json", "vkey")
        for act in ("write", "fsync", "rename")
        for what in ("not written", "written")
    },
    "key change: directory fsync: error, not written": _TRUST,
    "key change: directory fsync: error, written": _TRUST,
    "key change: trust.json write: disk full": _TRUST,
    "play: guard pwrite: short write": "what os.pwrite says that it wrote is not looked at",
    "play: checkpoint sign: fails before": _SIGN,
    "play: checkpoint sign: fails after": _SIGN,
    "damage: UPDATE heads SET text = 'x' || text "
    "WHERE size > 15 AND size < (SELECT max(size) FROM heads)": _SIGNS_ROWS,
    f"damage: {OTHER_ROOT}": _SIGNS_ROWS,
    "damage: UPDATE requests SET answer = CAST('x' || substr(answer, 2) AS BLOB)": _ANSWER,
    "damage: UPDATE requests SET head_size = (SELECT max(size) FROM heads WHERE size < head_size)": _ANSWER,
    "damage: UPDATE games SET idx = 3": _NO_GAME,
    "damage: DELETE FROM games": _NO_GAME,
    "damage: UPDATE rounds SET result_index = 1 WHERE result_index IS NOT NULL": (
        "GetRound shows whatever record the index of rounds points at"
    ),
    "damage: UPDATE tables SET sequence = sequence - 1 WHERE table_id = 'a'": (
        "a table whose row contradicts its snapshot is decided upon again and again, for ever"
    ),
    "damage: UPDATE tables SET snapshot = CAST('x' || substr(snapshot, 2) AS BLOB) "
    "WHERE table_id = 'a'": "a damaged snapshot ends the start with DecodeError, not with a refusal",
}
