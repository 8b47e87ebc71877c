"""RFC 3161 time stamps, checked against the certificates of authorities that the reader trusts.

Needs the distribution's extra `services` (rfc3161-client): it is imported only when stamps are checked.
"""

from collections.abc import Sequence

from cryptography.x509 import load_pem_x509_certificates

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.verify.times import StampCheck


class MissingExtra(Exception):
    """The extra `services` is not installed."""


def stamp_check(roots: Sequence[bytes]) -> StampCheck:
    """Returns a check against root certificates in PEM.

    The check returns the stamp's time in microseconds since 1970 UTC, and raises VerificationError
    TIME_STAMP when the stamp is not good, not over the message, or of another authority.

    Raises:
        MissingExtra: the extra `services` is not installed.
        ValueError: no certificate is there, or a PEM is none.
    """
    try:
        import rfc3161_client  # noqa: PLC0415 # only for those who ask for it
    except ImportError as error:
        raise MissingExtra("time stamps need the extra: sealedshoe-audit[services]") from error
    certificates = [c for pem in roots for c in load_pem_x509_certificates(pem)]
    verifier = rfc3161_client.VerifierBuilder(roots=certificates).build()

    def check(response: bytes, message: bytes) -> int:
        try:
            decoded = rfc3161_client.decode_timestamp_response(response)
            verifier.verify_message(decoded, message)
        except (ValueError, rfc3161_client.VerificationError) as error:
            raise VerificationError(
                Code.TIME_STAMP,
                expected="a good time stamp by a trusted authority",
                found=str(error),
            ) from error
        return round(decoded.tst_info.gen_time.timestamp() * 1_000_000)

    return check
