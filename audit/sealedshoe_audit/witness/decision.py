"""What a witness answers (C2SP tlog-witness v1.0.0), as a pure function of the request and its last head.

400  the body does not parse, or old is beyond the checkpoint
404  the log is unknown
403  no trusted key signed the checkpoint, or a trusted key's signature is bad
409  old is not the last cosigned size; the body says which is
422  the proof does not verify: the head does not extend the last one
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_any_checkpoint
from sealedshoe_audit.log.merkle import EMPTY_ROOT, verify_consistency
from sealedshoe_audit.log.note import Note, VerifierKey, parse_note, signature_line, verify_signers
from sealedshoe_audit.log.witness_request import WitnessRequest, parse_witness_request

SIZE_TYPE = "text/x.tlog.size"
TEXT_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer without a cosignature.

    Attributes:
        fork: the log's own key signed a head that does not extend the one cosigned before.
    """

    status: int
    body: str
    content_type: str = TEXT_TYPE
    fork: bool = False


@dataclass(frozen=True, slots=True)
class Extends:
    """The head may be cosigned, once it is stored in place of the last one."""

    old: Checkpoint
    new: Checkpoint
    text: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A request whose checkpoint a known log has signed.

    Attributes:
        signed: the note with the log's own lines alone.
    """

    request: WitnessRequest
    checkpoint: Checkpoint
    text: str
    signed: bytes


def open_submission(body: bytes, logs: Mapping[str, Sequence[VerifierKey]]) -> Submission | Refused:
    """Parses a request and checks the log's signature.

    Args:
        logs: {origin: the keys that sign its checkpoints}; more than one around a rotation.
    """
    try:
        request = parse_witness_request(body)
        note = parse_note(request.checkpoint)
        checkpoint = _checkpoint(note)
    except VerificationError as error:
        return Refused(400, f"{error.code}: expected {error.expected}\n")
    origin = note.text.split("\n", 1)[0]
    keys = logs.get(origin)
    if keys is None:
        return Refused(404, "unknown log\n")
    try:
        signed = bool(verify_signers(note, keys))
    except VerificationError:
        signed = False
    if not signed:
        return Refused(403, f"no good signature by {origin}\n")
    if isinstance(checkpoint, Refused):
        return checkpoint
    return Submission(request, checkpoint, note.text, _signed_by(note, keys))


def _signed_by(note: Note, keys: Sequence[VerifierKey]) -> bytes:
    """Strangers' lines, and older ones of this witness, are not passed on."""
    known = {(key.name, key.id) for key in keys}
    lines = [s for s in note.signatures if (s.name, s.id) in known]
    signed = "".join(signature_line(s.name, s.id, s.blob) for s in lines)
    return f"{note.text}\n{signed}".encode()


def _checkpoint(note: Note) -> Checkpoint | Refused:
    """An empty tree with a root of its own parses as no checkpoint, and has a status of its own."""
    try:
        return parse_any_checkpoint(note.text)
    except VerificationError as error:
        lines = note.text.split("\n")
        if error.code is Code.PARSE and len(lines) >= 4 and lines[1] == "0":
            return Refused(422, "an empty tree has the empty root\n")
        raise


def decide(submission: Submission, last: Checkpoint | None) -> Extends | Refused:
    """Compares a signed checkpoint with the head that was cosigned last.

    Args:
        last: None when none was.
    """
    request, new = submission.request, submission.checkpoint
    old = last or Checkpoint(new.origin, 0, EMPTY_ROOT)
    if request.old > new.size:
        return Refused(400, "old is beyond the checkpoint\n")
    if request.old != old.size:
        return Refused(409, f"{old.size}\n", SIZE_TYPE)
    try:
        verify_consistency(old.size, new.size, old.root, new.root, request.proof)
    except VerificationError as error:
        fork = old.size == new.size and old.root != new.root
        return Refused(422, f"not an extension: {error.expected}\n", fork=fork)
    return Extends(old, new, submission.text)
