"""Promises of the repository itself."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from sealedshoe_audit.errors import Code
from sealedshoe_server.errors import Reason

BIN = Path(sys.executable).parent


def test_both_distributions_have_one_version() -> None:
    """The server pins exactly the verifier that it was built with."""
    server = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    audit = tomllib.loads(Path("audit/pyproject.toml").read_text())["project"]
    assert server["version"] == audit["version"]
    assert f"sealedshoe-audit[services]=={audit['version']}" in server["dependencies"]


def test_generated_code_is_what_the_protos_say(tmp_path: Path) -> None:
    """Generating again gives the committed files, byte for byte."""
    for package, plugins in (
        ("audit", ("python", "mypy")),
        ("server", ("python", "mypy", "grpc_python", "mypy_grpc")),
    ):
        files = sorted(str(path) for path in Path(f"proto/sealedshoe_{package}/v1").glob("*.proto"))
        outs = [f"--{plugin}_out={tmp_path}" for plugin in plugins]
        command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", *outs, *files]
        environment = {"PATH": f"{BIN}:/usr/bin:/bin"}
        subprocess.run(command, check=True, env=environment, capture_output=True)
    made = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*_pb2*")}
    assert len(made) > 10
    for name, path in made.items():
        folder = "audit" if name.parts[0] == "sealedshoe_audit" else "server"
        assert path.read_bytes() == (Path(folder) / name).read_bytes(), name


def test_the_protos_pass_buf_lint() -> None:
    """buf's standard rules, without exceptions."""
    done = subprocess.run([BIN / "buf", "lint"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_dependencies_point_one_way() -> None:
    """audit <- rng <- server, enforced by import-linter's contracts."""
    done = subprocess.run([BIN / "lint-imports"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_package_is_pinned_by_hash_and_names_no_registry() -> None:
    """requirements/dev.txt holds versions and hashes, and no address."""
    text = Path("requirements/dev.txt").read_text()
    pins = re.findall(r"^[a-zA-Z0-9._-]+==\S+", text, re.MULTILINE)
    assert len(pins) > 40
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text


def test_every_dependency_is_explained() -> None:
    """docs/dependencies.md has a sentence for each package that we ask for."""
    explained = Path("docs/dependencies.md").read_text()
    for file in ("pyproject.toml", "audit/pyproject.toml"):
        for wanted in tomllib.loads(Path(file).read_text())["project"]["dependencies"]:
            name = re.split(r"[><=]", wanted)[0]
            assert name == "sealedshoe-audit[services]" or name in explained, name


def test_every_refusal_and_finding_code_is_documented() -> None:
    """docs/api.md and docs/protocol.md list the closed enums whole."""
    api, protocol = Path("docs/api.md").read_text(), Path("docs/protocol.md").read_text()
    assert [reason for reason in Reason if f"`{reason}`" not in api] == []
    assert [code for code in Code if f"`{code}`" not in protocol] == []
