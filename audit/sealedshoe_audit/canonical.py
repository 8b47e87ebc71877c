"""One accepted encoding of a protobuf message: fields ascending, defaults omitted, nothing unknown.

A message is parsed, written again without unknown fields, and compared with the bytes it came from.
That the runtime writes that one form is itself tested against an independent reader of the wire format
(tests/audit/test_canonical.py).
"""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from sealedshoe_audit.errors import Code, VerificationError

_M = TypeVar("_M", bound=Message)


def parse_canonical(kind: type[_M], data: bytes) -> _M:
    """Parses a message whose bytes must be canonical.

    Raises:
        VerificationError: PARSE, UNKNOWN_FIELD or NOT_CANONICAL.
    """
    message = kind()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise VerificationError(
            Code.PARSE, expected=kind.DESCRIPTOR.name, found=f"{len(data)} bytes"
        ) from error
    message.DiscardUnknownFields()
    canonical = message.SerializeToString(deterministic=True)
    if canonical != data:
        whole = kind.FromString(data).SerializeToString(deterministic=True)
        code = Code.UNKNOWN_FIELD if len(whole) > len(canonical) else Code.NOT_CANONICAL
        raise VerificationError(
            code, expected=f"a canonical {kind.DESCRIPTOR.name}", found=f"{len(data)} bytes"
        )
    return message
