"""Vectors of the primitives, out of the published files beside."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from sealedshoe_audit.currencies import CURRENCY_DIGITS
from tests.vectors.make.suite import Suite

VECTORS = Path(__file__).resolve().parents[1]
RSP = ("no_reseed", "pr_false", "pr_true")


def hmac_drbg() -> Suite:
    """Every SHA-512 case of NIST's files, as a list of calls."""
    suite = Suite("hmac_drbg", "NIST CAVP drbgvectors, HMAC_DRBG SHA-512; see ../hmac_drbg/README.md")
    for file in RSP:
        text = (VECTORS / "hmac_drbg" / f"{file}.HMAC_DRBG.sha256-sha512.rsp").read_text("utf-8")
        for n, values in enumerate(_rsp_cases(text)):
            returned = values["ReturnedBits"][0]
            given = {
                "entropy_input": values["EntropyInput"][0],
                "nonce": values["Nonce"][0],
                "personalization": values["PersonalizationString"][0],
                "calls": list(_calls(values, len(returned) // 2)),
            }
            suite.good(f"{file} {n}", given, {"returned": returned})
    return suite


def _rsp_cases(text: str) -> list[dict[str, list[str]]]:
    cases: list[dict[str, list[str]]] = []
    wanted = False
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in f"{line} ".partition("="))
        if line.startswith("[SHA"):
            wanted = line == "[SHA-512]"
        elif wanted and name == "COUNT":
            cases.append({})
        elif wanted and equals and not line.startswith("["):
            cases[-1].setdefault(name, []).append(value)
    return cases


def _calls(values: dict[str, list[str]], size: int) -> Any:
    for entropy, more in zip(
        values.get("EntropyInputReseed", []), values.get("AdditionalInputReseed", []), strict=True
    ):
        yield {"reseed": entropy, "additional": more}
    predicted = values.get("EntropyInputPR")
    for n, more in enumerate(values["AdditionalInput"]):
        if predicted:
            yield {"reseed": predicted[n], "additional": more}
        yield {"generate": size, "additional": "" if predicted else more}


def ed25519() -> Suite:
    """Wycheproof, and a part of sign.input with a spoilt twin of each."""
    suite = Suite("ed25519", "Wycheproof and sign.input; see ../ed25519/README.md")
    wycheproof = json.loads((VECTORS / "ed25519" / "wycheproof_ed25519_test.json").read_text("utf-8"))
    for group in wycheproof["testGroups"]:
        for test in group["tests"]:
            given = {
                "public_key": group["publicKey"]["pk"],
                "message": test["msg"],
                "signature": test["sig"],
            }
            suite.good(f"wycheproof {test['tcId']}", given, {"good": test["result"] == "valid"})
    for n, block in enumerate(_sign_input()):
        given = {"public_key": block["PUB"], "message": block["MESSAGE"], "signature": block["SIG"]}
        suite.good(f"sign.input {n}", given, {"good": True})
        spoilt = given | {"message": block["MESSAGE"] + "00"}
        suite.good(f"sign.input {n} with a longer message", spoilt, {"good": False})
    return suite


def _sign_input() -> list[dict[str, str]]:
    text = (VECTORS / "ed25519" / "sign_input_256.txt").read_text("utf-8")
    blocks = [block for block in text.split("\n\n") if block.startswith("PRIV")]
    lines = [[line.partition(":") for line in block.splitlines()] for block in blocks[:64]]
    return [{name: value.strip().lower() for name, _, value in block} for block in lines]


def player_commitment() -> Suite:
    """Commitments by the formula of docs/protocol.md, 7.3, on hashlib alone."""
    suite = Suite("player_commitment", "docs/protocol.md, 7.3, written out with hashlib")
    for n, reference in enumerate(("", "player-1@casino", "é€𝄞", "x" * 512)):
        salt = sha256(b"salt %d" % n).digest()[:16]
        committed = sha256(b"sealedshoe/v1/player\x00" + salt + reference.encode()).hexdigest()
        given = {"salt": salt.hex(), "reference": reference}
        suite.good(f"reference {n}", given, {"commitment": committed})
    return suite


def currency() -> Suite:
    """Every code of three capital letters that a settings record may name, and some that it may not."""
    suite = Suite("currency", "ISO 4217 list one as of 2026-01-01: national currencies, CLF and UYW")
    for code, digits in sorted(CURRENCY_DIGITS.items()):
        suite.good(code, {"code": code}, {"digits": digits})
    for code in ("", "XXX", "XAU", "XTS", "EURO", "eur", "EU", "HRK", "BGN", "ANG", "CHE", "USN"):
        suite.bad(f"no {code or 'code'}", {"code": code}, "TABLE_SETTINGS")
    return suite
