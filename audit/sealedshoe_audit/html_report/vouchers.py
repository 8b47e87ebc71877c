"""Who else vouches for the head of the log, and since when: witnesses, and time stamps (RFC 3161)."""

from typing import Any

from sealedshoe_audit.html_report.markup import Html, text
from sealedshoe_audit.html_report.tables import Column, table
from sealedshoe_audit.html_report.wording import NONE, grouped, moment
from sealedshoe_audit.trust import Trust

_WITNESSES = (Column("Witness"), Column("Cosigned this head at"))
_TIME_STAMPS = (Column("Authority"), Column("Stamped at"), Column("Log size", "number"))


def witnesses(cosigned: list[dict[str, Any]], trust: Trust | None) -> Html:
    """Returns the witnesses that cosigned, then those of the trust file that did not."""
    times = {entry["name"]: moment(entry["time_s"] * 1_000_000) for entry in cosigned}
    known = [key.name for key in trust.witnesses] if trust else []
    absent = {name: f"{NONE} did not cosign" for name in known if name not in times}
    rows = [(text(name), text(when)) for name, when in (times | absent).items()]
    return table("Witnesses", _WITNESSES, rows)


def time_stamps(stamps: list[dict[str, Any]]) -> Html:
    """Returns the time stamps over heads of this log."""
    rows = [
        (text(stamp["authority"]), text(moment(stamp["time_us"])), text(grouped(stamp["size"])))
        for stamp in stamps
    ]
    return table("Time stamps", _TIME_STAMPS, rows)
