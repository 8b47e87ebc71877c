"""Game definition files for tests: those of the product, with single settings changed."""

import re
from importlib import resources

_GAMES = resources.files("sealedshoe_audit.baccarat").joinpath("games")


def game_text(game_id: str = "shoe-6d", **changes: object) -> str:
    """The definition file of a game of the product; `cut_depth=300` replaces that setting."""
    text = _GAMES.joinpath(f"{game_id}.toml").read_text("utf-8")
    for name, value in changes.items():
        written = f'"{value}"' if isinstance(value, str) else str(value)
        text, found = re.subn(rf"^{name} = .*$", f"{name} = {written}", text, flags=re.MULTILINE)
        assert found, f"{game_id} has no {name}"
    return text
