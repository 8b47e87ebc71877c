"""The process that fuzzes: `python -m tests.fuzz.child TARGET [libFuzzer's own arguments]`.

Instrumenting happens in here and nowhere else.
"""

import sys
from contextlib import suppress
from importlib import import_module

import atheris

atheris.enabled_hooks.add("str")  # not "RegEx": its patterns cannot do what json asks of them
_PACKAGES = ["sealedshoe_audit", "sealedshoe_server.http", "tests.audit.wire"]
with atheris.instrument_imports(include=_PACKAGES):
    from tests.fuzz.known_faults import passed_over
    from tests.fuzz.mutate import MESSAGES, mutator_of
    from tests.fuzz.run import PLANTED
    from tests.fuzz.targets import TARGETS, Check

    if sys.argv[1] == "path":
        import_module("tests.fuzz.served")


def main() -> None:
    """Never returns: libFuzzer ends the process."""
    name, *arguments = sys.argv[1:]
    # libFuzzer runs this line again for each attempt at a merge.
    command = f"{sys.executable} -m tests.fuzz.child {name}"
    hooks = {"custom_mutator": mutator_of(name, _mutate)} if name in MESSAGES else {}
    atheris.Setup([command, *arguments], _target(name), **hooks)
    atheris.Fuzz()


def _target(name: str) -> Check:
    if name == PLANTED:
        return _fault
    run, known = TARGETS[name], passed_over(name)

    def target(data: bytes) -> None:
        with suppress(*known):
            run(data)

    return target


def _fault(data: bytes) -> None:
    if data.startswith(b"!"):
        raise ValueError("planted")


def _mutate(data: bytes, most: int) -> bytes:
    """libFuzzer's own mutation; atheris.Mutate does not find it once protobuf is loaded."""
    from atheris import core_with_libfuzzer  # noqa: PLC0415 # only there after Setup

    mutated: bytes = core_with_libfuzzer.Mutate(data, most)
    return mutated


if __name__ == "__main__":
    main()
