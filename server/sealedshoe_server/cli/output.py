"""Tables on the terminal: whole also where there is none."""

from rich.console import Console

from sealedshoe_audit.v1.game_pb2 import Ratio

PIPE_WIDTH = 200  # columns when the output is no terminal: nothing is cut


def console() -> Console:
    """Returns a console as wide as the terminal, or wide enough."""
    probe = Console()
    return probe if probe.is_terminal else Console(width=PIPE_WIDTH)


def fraction_percent(ratio: Ratio) -> str:
    """Returns a recorded fraction in percent with six digits."""
    return f"{100 * ratio.numerator / ratio.denominator:.6f}"
