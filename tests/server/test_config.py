"""Settings: strict types, unknown names refused, and nothing public without mutual TLS."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from sealedshoe_server.config import Config, ConfigError, load_config

TLS = 'tls_certificate = "c.pem"\ntls_key = "k.pem"\ntls_client_ca = "ca.pem"\n'


def load(tmp_path: Path, text: str, **overrides: object) -> Config:
    """What a settings file and command line options come to."""
    path = tmp_path / "server.toml"
    path.write_text(text, "utf-8")
    return load_config(path, overrides)


def test_without_a_file_the_defaults_hold() -> None:
    """All on loopback, in ./data."""
    config = load_config(None, {})
    assert config == Config()
    assert not config.is_public
    assert (config.data_dir, config.listen) == (Path("data"), "127.0.0.1:7440")


def test_a_file_sets_and_an_option_overrides(tmp_path: Path) -> None:
    """Each setting has one spelling, in both."""
    text = 'origin = "log.example"\ndrain_s = 3\nsecond_sources = ["/dev/hwrng"]\n'
    config = load(tmp_path, text, origin="other.example", data_dir=Path("/srv/shoe"))
    assert (config.origin, config.data_dir) == ("other.example", Path("/srv/shoe"))
    assert (config.drain_s, config.second_sources) == (3.0, ("/dev/hwrng",))
    assert isinstance(config.drain_s, float)


def test_settings_do_not_change_afterwards() -> None:
    """The object is frozen."""
    with pytest.raises(FrozenInstanceError):
        Config().origin = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("orgin = 'x'", "orgin"),
        ("[server]\norigin = 'x'", "server"),
        ("origin = 7", "origin"),
        ("origin = ''", "origin"),
        ("origin = 'a b'", "origin"),
        ("origin = 'a+b'", "origin"),
        (f"origin = '{'x' * 101}'", "origin"),
        ("answers_kept_days = '30'", "answers_kept_days"),
        ("answers_kept_days = 1.5", "answers_kept_days"),
        ("answers_kept_days = true", "answers_kept_days"),
        ("answers_kept_days = 0", "answers_kept_days"),
        ("default_deadline_s = true", "default_deadline_s"),
        ("default_deadline_s = -1", "default_deadline_s"),
        ("max_message_bytes = 0", "max_message_bytes"),
        ("watch_buffer = -1", "watch_buffer"),
        ("grace_s = -0.1", "grace_s"),
        ("drain_s = -1", "drain_s"),
        ("second_sources = '/dev/hwrng'", "second_sources"),
        ("second_sources = [1]", "second_sources"),
        ("log_level = 'verbose'", "log_level"),
        ("data_dir = 7", "data_dir"),
        ("listen = 7440", "listen"),
        ("listen = 'localhost'", "localhost"),
        ("listen = '127.0.0.1:'", "127.0.0.1:"),
        ("listen = '127.0.0.1:65536'", "65536"),
        ("listen = '127.0.0.1:-1'", "-1"),
        ("tls_key = 'k.pem'", "tls_"),
        (TLS.replace("tls_client_ca", "#"), "tls_"),
        pytest.param("default_deadline_s = nan", "default_deadline_s"),
        pytest.param("grace_s = inf", "grace_s"),
        pytest.param("drain_s = nan", "drain_s"),
    ],
)
def test_a_bad_setting_is_refused_by_name(tmp_path: Path, text: str, name: str) -> None:
    """Unknown, of another type, or without sense."""
    with pytest.raises(ConfigError, match=name):
        load(tmp_path, text)


@pytest.mark.parametrize("listen", ["0.0.0.0:7440", "[::]:7440", "10.0.0.1:7440", "a.example:7440"])
def test_a_public_address_needs_mutual_tls(tmp_path: Path, listen: str) -> None:
    """Refused without the three TLS settings, taken with them."""
    with pytest.raises(ConfigError, match="mutual TLS"):
        load(tmp_path, f"listen = '{listen}'")
    assert load(tmp_path, f"listen = '{listen}'\n{TLS}").is_public


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.1.2.3:80", "[::1]:7440", "localhost:1"])
def test_a_loopback_address_does_not(tmp_path: Path, listen: str) -> None:
    """What stays in the machine."""
    assert not load(tmp_path, f"listen = '{listen}'").is_public


@pytest.mark.parametrize("name", ["http_listen", "local_listen"])
@pytest.mark.parametrize("address", ["0.0.0.0:7442", "[::]:7442", "192.168.0.1:1", "host:1"])
def test_operator_and_http_ports_stay_on_loopback(tmp_path: Path, name: str, address: str) -> None:
    """Whatever TLS is set up."""
    with pytest.raises(ConfigError, match=name):
        load(tmp_path, f"{name} = '{address}'\n{TLS}")


@pytest.mark.parametrize("text", ["= 1", "origin = 'a'\norigin = 'b'", "\x00"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: str) -> None:
    """With its path."""
    with pytest.raises(ConfigError, match=r"server\.toml"):
        load(tmp_path, text)


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    """A server never falls back to defaults when it was told to read a file."""
    with pytest.raises(ConfigError, match=r"no\.toml"):
        load_config(tmp_path / "no.toml", {})
    (tmp_path / "latin.toml").write_bytes(b"origin = '\xe9'")
    with pytest.raises(ConfigError, match=r"latin\.toml"):
        load_config(tmp_path / "latin.toml", {})
