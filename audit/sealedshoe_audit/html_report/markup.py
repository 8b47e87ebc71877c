"""HTML that can only be built escaped: `Html` comes from `text` and `tag`, and nothing else is taken.

Every string of a log is its operator's or a player's. `text` cuts it short, shows what does not print
as an escape, so that no name can turn the writing direction, and escapes it.
"""

from collections.abc import Iterable
from html import escape
from typing import NewType

Html = NewType("Html", str)

NOTHING = Html("")
MAX_TEXT = 300  # characters; the longest honest text is a parse error's, 200 and its frame
THIN_SPACE = "\u202f"  # groups digits; no line breaks at it
_VOID = frozenset({"meta"})


def text(value: object, limit: int = MAX_TEXT) -> Html:
    """Returns a value as escaped, printable text of at most `limit` characters of the original."""
    whole = str(value)
    cut = whole if len(whole) <= limit else f"{whole[:limit]}…"
    return Html(escape("".join(_shown(character) for character in cut)))


def _shown(character: str) -> str:
    if character.isprintable() or character == THIN_SPACE:
        return character
    return f"\\x{ord(character):02x}"


def tag(name: str, /, *content: Html, **attributes: str) -> Html:
    """Returns an element; `class_` is written as `class`, `aria_label` as `aria-label`, "" not at all."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value
    )
    if name in _VOID:
        return Html(f"<{name}{pairs}>")
    return Html(f"<{name}{pairs}>{''.join(content)}</{name}>")


def join(parts: Iterable[Html]) -> Html:
    """Returns the parts one after the other, each on a line of its own."""
    return Html("\n".join(parts))


def paragraph(sentence: object, class_: str = "note") -> Html:
    """Returns a paragraph of plain text."""
    return tag("p", text(sentence, limit=1000), class_=class_)
