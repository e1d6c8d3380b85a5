"""What a sandbox may name: exactly what was written down, in the one form that hosts are compared in."""

import pytest

from evalsi.core.errors import UsageError
from evalsi.infra.sandbox.egress.allowlist import Allowlist, plain_host

ALLOWED = Allowlist.of(
    ("pypi.org", "files.example.org:8080", "*.mirror.net:443", "93.184.216.34:80", "[2606:2800::1]:80")
)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("pypi.org", 443), ("PyPI.org", 443), ("pypi.org.", 443), ("files.example.org", 8080), ("a.mirror.net", 443),
        ("a.b.mirror.net", 443), ("93.184.216.34", 80), ("[2606:2800::1]", 80), ("[2606:2800:0:0:0:0:0:1]", 80),
    ],
)  # fmt: skip
def test_what_was_written_down_is_allowed_however_it_is_spelt(host: str, port: int) -> None:
    plain = plain_host(host)
    assert plain is not None
    assert ALLOWED.allows(plain, port)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("pypi.org", 80), ("files.example.org", 443), ("mirror.net", 443), ("evilmirror.net", 443), ("x.pypi.org", 443),
        ("pypi.org.evil.net", 443), ("a.mirror.net.evil.net", 443), ("pypi.orgx", 443),
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_not(host: str, port: int) -> None:
    plain = plain_host(host)
    assert plain is not None
    assert not ALLOWED.allows(plain, port)


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "a..b", "-a.org", "a b.org", "a\0.org", "a/b", "a@b.org", "a%2eorg", "пример.org", "2130706433", "0x7f.1", "127.1",
        "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "a.0x10", "a.1", "[::1", "::1", "[127.0.0.1]", "[fe80::1%eth0]", "a" * 64, "a." * 130,
    ],
)  # fmt: skip
def test_what_two_readers_could_take_for_two_hosts_is_none(text: str) -> None:
    assert plain_host(text) is None


@pytest.mark.parametrize(
    "text", ["", ":443", "a.org:0", "a.org:65536", "a.org:x", "*", "*.org", "a.*.org", "http://a.org", "127.1:80"]
)
def test_a_rule_that_names_no_host_is_refused_and_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="names no host") as refused:
        Allowlist.of((text,))
    assert refused.value.where == "allow_hosts"


def test_a_name_in_any_script_is_allowed_in_its_ascii_form() -> None:
    assert Allowlist.of(("пример.рф:443",)).allows("xn--e1afmkfd.xn--p1ai", 443)
