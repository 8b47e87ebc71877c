"""One input of both verifiers, and what a verifier says of it."""

from dataclasses import dataclass

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.report import ERROR, Finding, Report


@dataclass(frozen=True, slots=True)
class Case:
    """Three files, and in words what was done to them."""

    evidence: bytes
    trust: bytes
    receipt: bytes | None
    about: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with its first error and all codes, notices among them."""

    verdict: str
    code: str | None
    record: str | None
    codes: tuple[str, ...]


def python_answer(case: Case) -> Answer:
    """Asks the verifier in Python, as its command line does."""
    try:
        report = verify_evidence(case.evidence, parse_trust(case.trust), case.receipt)
    except VerificationError as error:
        report = Report([Finding.of(error, "trust file")])
    first = next((f for f in report.findings if f.severity == ERROR), None)
    return Answer(
        "valid" if report.valid else "invalid",
        str(first.code) if first else None,
        first.record if first else None,
        tuple(str(finding.code) for finding in report.findings),
    )
