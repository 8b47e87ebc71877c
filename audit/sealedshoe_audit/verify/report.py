"""What a verification found: findings with stable codes, what was checked, and what could not be."""

from dataclasses import dataclass, field
from typing import Any

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint

ERROR = "error"
NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes:
        record: what it is about, as `leaf 17` or `tables/7/rounds/12`.
        severity: `error` makes the verdict invalid; a `notice` is for people to weigh.
    """

    code: Code
    record: str
    expected: str
    found: str
    severity: str = ERROR

    @classmethod
    def of(cls, error: VerificationError, record: str) -> "Finding":
        """States a failed check."""
        return cls(error.code, record, error.expected, error.found)

    def json(self) -> dict[str, Any]:
        """Returns the JSON object."""
        return {
            "code": str(self.code),
            "record": self.record,
            "expected": self.expected,
            "found": self.found,
            "severity": self.severity,
        }


@dataclass(slots=True)
class Report:
    """A verdict in the making.

    Attributes:
        checked: what was done, in words.
        not_checked: what this verification cannot show, in words.
        facts: further JSON values, such as the round's cards.
    """

    findings: list[Finding] = field(default_factory=lambda: [])
    checked: list[str] = field(default_factory=lambda: [])
    not_checked: list[str] = field(default_factory=lambda: [])
    facts: dict[str, Any] = field(default_factory=lambda: {})

    @property
    def valid(self) -> bool:
        """Whether nothing speaks against it."""
        return all(finding.severity != ERROR for finding in self.findings)

    def json(self) -> dict[str, Any]:
        """Returns the JSON object of `--json`."""
        return {
            "verdict": "valid" if self.valid else "invalid",
            "findings": [finding.json() for finding in self.findings],
            "checked": self.checked,
            "not_checked": self.not_checked,
            **self.facts,
        }


def head_facts(head: VerifiedCheckpoint) -> dict[str, Any]:
    """Returns what a report says of a log's head."""
    checkpoint = head.checkpoint
    cosigned = sorted(head.cosigned.items())
    return {
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
        "witnesses": [{"name": name, "time_s": time_s} for name, time_s in cosigned],
    }
