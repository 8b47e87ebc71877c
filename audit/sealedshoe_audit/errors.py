"""What a check can find wrong, as one closed list of stable codes.

Every failed check raises `VerificationError` with a `Code`; texts say what was expected and what was
found, never a secret. `DefinitionError` is the other family: a game definition that cannot be used.

    Exception
    ├── VerificationError   .code .expected .found
    └── DefinitionError     .field .problem
"""

from enum import StrEnum


class Code(StrEnum):
    """Finding codes; stable, documented in docs/protocol.md."""

    # bytes and containers
    PARSE = "PARSE"
    NOT_CANONICAL = "NOT_CANONICAL"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    DIGEST_MISMATCH = "DIGEST_MISMATCH"
    FORMAT = "FORMAT"
    TRUST = "TRUST"
    # the log
    NOTE_SIGNATURE = "NOTE_SIGNATURE"
    ORIGIN_MISMATCH = "ORIGIN_MISMATCH"
    QUORUM = "QUORUM"
    INCLUSION = "INCLUSION"
    CONSISTENCY = "CONSISTENCY"
    ROOT_MISMATCH = "ROOT_MISMATCH"
    TILE_MISMATCH = "TILE_MISMATCH"
    MISSING_FILE = "MISSING_FILE"
    SPLIT_VIEW = "SPLIT_VIEW"
    ROLLBACK = "ROLLBACK"
    # signed records
    RECORD_KIND = "RECORD_KIND"
    RECORD_KEY = "RECORD_KEY"
    RECORD_SIGNATURE = "RECORD_SIGNATURE"
    RECORD_VERSION = "RECORD_VERSION"
    RECORD_ORIGIN = "RECORD_ORIGIN"
    RECORD_TIME = "RECORD_TIME"
    RECORD_ORDER = "RECORD_ORDER"
    RECORD_LIMITS = "RECORD_LIMITS"
    ROOT_KEY = "ROOT_KEY"
    LOG_CLOSED = "LOG_CLOSED"
    KEY_CHANGE = "KEY_CHANGE"
    KEY_REVOKED = "KEY_REVOKED"
    TIME_STAMP = "TIME_STAMP"
    PREDECESSOR = "PREDECESSOR"
    TAIL_LOST = "TAIL_LOST"
    # tables, shoes and rounds
    CHAIN = "CHAIN"
    SEQUENCE_GAP = "SEQUENCE_GAP"
    TABLE_STATE = "TABLE_STATE"
    TABLE_SETTINGS = "TABLE_SETTINGS"
    GAME_DEFINITION = "GAME_DEFINITION"
    ODDS_MISMATCH = "ODDS_MISMATCH"
    ROUND_NUMBER = "ROUND_NUMBER"
    ROUND_STATE = "ROUND_STATE"
    OPENING_MISMATCH = "OPENING_MISMATCH"
    HEAD_MISMATCH = "HEAD_MISMATCH"
    SHOE_STATE = "SHOE_STATE"
    SHOE_OPENING = "SHOE_OPENING"
    SHOE_COUNTER_GAP = "SHOE_COUNTER_GAP"
    DUPLICATE_SEED = "DUPLICATE_SEED"
    SEED_COMMITMENT = "SEED_COMMITMENT"
    CARDS_ROOT = "CARDS_ROOT"
    CARD_PROOF = "CARD_PROOF"
    CARD_MISMATCH = "CARD_MISMATCH"
    SEED_UNAVAILABLE = "SEED_UNAVAILABLE"
    DEAL = "DEAL"
    WAGER = "WAGER"
    SETTLEMENT = "SETTLEMENT"
    VOID = "VOID"
    # evidence
    EVIDENCE_INCOMPLETE = "EVIDENCE_INCOMPLETE"
    EVIDENCE_EXTRA = "EVIDENCE_EXTRA"
    PLAYER_OPENING = "PLAYER_OPENING"
    RECEIPT = "RECEIPT"
    ROUND_UNKNOWN = "ROUND_UNKNOWN"


class VerificationError(Exception):
    """A check failed.

    Attributes:
        code: what kind of check.
        expected, found: short printable texts; hashes in lower-case hex.
    """

    def __init__(self, code: Code, *, expected: str = "", found: str = "") -> None:
        super().__init__(f"{code}: expected {expected}, found {found}")
        self.code = code
        self.expected = expected
        self.found = found


class DefinitionError(Exception):
    """A game definition or its table limits cannot be used.

    Attributes:
        field: path of the offending field, as `bets[2].cases[0].pays`.
        problem: what is wrong with it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
