"""A time stamp authority of RFC 3161 for tests: a root, a signing certificate, and `openssl ts`."""

import subprocess
from pathlib import Path

_CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = Test Time Stamp Authority
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[tsa]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[authority]
serial = {directory}/serial
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
accuracy = secs:1
ordering = no
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
signer_digest = sha256
"""
_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class LocalTsa:
    """An authority whose keys and certificates lie in a directory.

    Attributes:
        root_pem: the root certificate, in PEM.
    """

    def __init__(self, directory: Path) -> None:
        """Makes keys and certificates."""
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        (directory / "openssl.cnf").write_text(_CONFIG.format(directory=directory))
        (directory / "serial").write_text("01\n")
        named = ["-config", "openssl.cnf", "-subj"]
        root = ["-keyout", "root.key", "-out", "root.pem", "-days", "30", "-extensions", "root"]
        self._openssl("req", "-x509", *_KEY, *named, "/CN=Test Root", *root)
        signer = ["-keyout", "tsa.key", "-out", "tsa.csr"]
        self._openssl("req", "-new", *_KEY, *named, "/CN=Test Time Stamps", *signer)
        by_root = ["-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial"]
        extended = ["-extfile", "openssl.cnf", "-extensions", "tsa"]
        made = ["-in", "tsa.csr", "-out", "tsa.pem", "-days", "30"]
        self._openssl("x509", "-req", *made, *by_root, *extended)
        self.root_pem = (directory / "root.pem").read_bytes()

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(
            ["openssl", *arguments],
            cwd=self._directory,
            check=True,
            capture_output=True,
            timeout=60,
        )

    def stamp(self, message: bytes, digest: str = "sha256") -> bytes:
        """Returns the DER of a TimeStampResp over a message, the signer's certificate in it.

        Args:
            digest: the authority refuses all but sha256, sha384 and sha512.
        """
        (self._directory / "message").write_bytes(message)
        self._openssl(
            "ts", "-query", "-data", "message", f"-{digest}", "-cert", "-out", "query.tsq"
        )
        return self.respond((self._directory / "query.tsq").read_bytes())

    def respond(self, request_der: bytes) -> bytes:
        """Answers a TimeStampReq in DER; returns the DER of the TimeStampResp, granted or refused."""
        (self._directory / "asked.tsq").write_bytes(request_der)
        signer = ["-signer", "tsa.pem", "-inkey", "tsa.key"]
        files = ["-queryfile", "asked.tsq", "-out", "answer.tsr"]
        named = ["-config", "openssl.cnf", "-section", "authority"]
        self._openssl("ts", "-reply", *named, *files, *signer)
        return (self._directory / "answer.tsr").read_bytes()
