"""Where the language-neutral vectors lie, and how tests read them."""

import json
from pathlib import Path
from typing import Any

_VECTORS = Path(__file__).resolve().parents[1] / "vectors"


def vector_text(name: str) -> str:
    """Returns a vector file's text."""
    return (_VECTORS / name).read_text(encoding="utf-8")


def vector_json(name: str) -> Any:
    """Returns a vector file's content."""
    return json.loads(vector_text(name))
