"""`sealedshoe keys`: prepare beside the running server, authorise offline, apply; list tells."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.server.commands import fails, succeeds
from tests.server.rotating import NAMES, audited, changes_in, in_force
from tests.server.running import Running

ALL = list(NAMES)


async def prepared(server: Running, purpose: int, *options: str, authorise: bool = True) -> Path:
    """A request for a change, authorised unless told otherwise."""
    request = server.data_dir.parent / f"{NAMES[purpose]}.json"
    where = ("--data-dir", server.data_dir)
    await succeeds("keys", "prepare", *where, NAMES[purpose], "-o", request, *options)
    if authorise:
        root = server.data_dir.parent / "root.pem"  # offline: on another machine
        root.write_bytes((server.data_dir / "keys" / "root.pem").read_bytes())
        root.chmod(0o600)
        await succeeds("keys", "authorise", request, "--root-key", root)
    return request


async def apply(server: Running, request: Path) -> str:
    """Hands it in until it is done."""
    said = ""
    while said != "done\n":
        said = await succeeds("keys", "apply", "--data-dir", server.data_dir, request)
        assert re.fullmatch(r"done\n|waits for leaf \d+; ask again to see it done\n", said)
    return said


@pytest.mark.parametrize("purpose", ALL)
async def test_a_key_is_prepared_authorised_and_applied(house: Running, purpose: int) -> None:
    """With tables open; the new file is private, and the log names the key."""
    old = await in_force(house, purpose)
    before = set((house.data_dir / "keys").iterdir())
    request = await prepared(house, purpose)
    [file] = set((house.data_dir / "keys").iterdir()) - before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await apply(house, request)
    [(index, record)] = changes_in(house.data_dir)
    fields = json.loads(request.read_text("utf-8"))
    assert index == fields["first_leaf"] - 1
    assert (record.old_key, record.new_key.hex()) == (old, fields["new_key"])
    assert record.purpose == purpose
    assert file.name.startswith(NAMES[purpose])
    await house.deal()
    await audited(house)


async def test_list_tells_which_keys_are_in_force(house: Running) -> None:
    """All files, and three of them marked."""
    for purpose in ALL:
        await apply(house, await prepared(house, purpose))
    for purpose in ALL:
        while await in_force(house, purpose) not in {
            r.new_key for _, r in changes_in(house.data_dir)
        }:
            await house.size()
    shown = (await succeeds("keys", "list", "--data-dir", house.data_dir)).splitlines()
    marked = {line.split()[0] for line in shown if line.endswith("in force")}
    signing = [(await in_force(house, purpose)).hex() for purpose in ALL[:2]]
    assert marked == {*signing, (await in_force(house, ALL[2])).decode()}
    assert len(shown) == 6


@pytest.mark.parametrize("purpose", ALL)
async def test_a_request_without_authority_is_refused(house: Running, purpose: int) -> None:
    """Exit 1 with the reason, and nothing happens."""
    request = await prepared(house, purpose, authorise=False)
    said = await fails("keys", "apply", "--data-dir", house.data_dir, request)
    assert said.startswith("refused: KEY_CHANGE_INVALID (INVALID_ARGUMENT: ")
    stranger = house.data_dir / "keys" / "statement.pem"
    await succeeds("keys", "authorise", request, "--root-key", stranger)
    said = await fails("keys", "apply", "--data-dir", house.data_dir, request)
    assert said.startswith("refused: KEY_CHANGE_INVALID (INVALID_ARGUMENT: ")
    assert changes_in(house.data_dir) == []


async def test_a_request_is_signed_for_its_own_log(house: Running) -> None:
    """One whose origin was changed is not this log's."""
    request = await prepared(house, 1, authorise=False)
    text = request.read_text("utf-8").replace(house.config.origin, "log.example/other")
    request.write_text(text, "utf-8")
    root = house.data_dir / "keys" / "root.pem"
    await succeeds("keys", "authorise", request, "--root-key", root)
    said = await fails("keys", "apply", "--data-dir", house.data_dir, request)
    assert "KEY_CHANGE_INVALID" in said


BROKEN: dict[str, Any] = {
    "no JSON": lambda _: "{",
    "a list": lambda _: "[]",
    "no fields": lambda _: "{}",
    "another purpose": lambda fields: json.dumps(fields | {"purpose": "root"}),
    "a leaf in words": lambda fields: json.dumps(fields | {"first_leaf": "ten"}),
    "a negative leaf": lambda fields: json.dumps(fields | {"first_leaf": -1}),
    "no hex": lambda fields: json.dumps(fields | {"new_key": "xyz"}),
    "null": lambda fields: json.dumps(fields | {"origin": None}),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_file_that_is_no_request_is_said_to_be_none(house: Running, name: str) -> None:
    """By authorise and by apply."""
    request = await prepared(house, 1, authorise=False)
    request.write_text(BROKEN[name](json.loads(request.read_text("utf-8"))), "utf-8")
    expected = f"Error: {request}: no request for a change of keys\n"
    root = house.data_dir / "keys" / "root.pem"
    assert await fails("keys", "authorise", request, "--root-key", root) == expected
    assert await fails("keys", "apply", "--data-dir", house.data_dir, request) == expected


async def test_prepare_needs_a_running_server(tmp_path: Path) -> None:
    """It asks how long the log is."""
    where = ("--data-dir", tmp_path / "none")
    said = await fails("keys", "prepare", *where, "statement", "-o", tmp_path / "request")
    assert said == f"Error: {tmp_path / 'none'}: no server runs on this directory\n"
    assert not (tmp_path / "request").exists()
