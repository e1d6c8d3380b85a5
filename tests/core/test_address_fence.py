"""Addresses that users of a server write: case M01 and its relatives."""

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.address_fence import AddressFence, address_written_as, host_of, why_not_public
from evalsi.core.errors import InvalidSpecError
from tests.case_files import case

FENCE = AddressFence()
EMBEDDING = [ipaddress.IPv6Network(each) for each in ("::ffff:0:0/96", "64:ff9b::/96", "2002::/16", "::/96")]


def is_refused(url: str, fence: AddressFence = FENCE) -> bool:
    try:
        fence.check_url(url)
    except InvalidSpecError:
        return True
    return False


@pytest.mark.parametrize("row", case("M01")["expected"]["urls"], ids=lambda row: row["url"])
def test_the_addresses_of_case_m01(row: dict[str, Any]) -> None:
    """Those denied only at a redirect or after resolving pass here; tests of the endpoint go on with them."""
    assert is_refused(row["url"]) == (row["allowed"] is False)


@pytest.mark.parametrize(
    "url",
    [
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://127.0.0.1./",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://a.localhost:80/",
        "http://metadata.google.internal/computeMetadata/",
        "http://printer.local/",
        "http://[::]/",
        "http://[::127.0.0.1]/",
        "http://[0:0:0:0:0:ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fd00:ec2::254]/",
        "http://[fec0::1]/",
        "http://100.100.100.200/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://240.0.0.1/",
        "http://8.8.8.8:0/",
        "http://8.8.8.8:99999/",
        "http://user:secret@hooks.example.com/",
        "http://:@hooks.example.com/",
        "http://hooks.example.com\\@127.0.0.1/",
        "http://127.0.0.1\\.example.com/",
        "http://hooks.example.com%2f@127.0.0.1/",
        "http://hooks.example.com\t/",
        "http:///etc/passwd",
        "//127.0.0.1/",
        "127.0.0.1",
        "",
        "ftp://hooks.example.com/",
        "javascript:alert(1)",
        "http://[::1",
        "http://[::ffff:169.254.169.254]/",
    ],
)
def test_relatives_of_case_m01_are_refused(url: str) -> None:
    assert is_refused(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://hooks.example.com:8443/x?y",
    ],
)
def test_public_addresses_pass(url: str) -> None:
    assert not is_refused(url)


def test_a_refusal_shows_no_credentials() -> None:
    with pytest.raises(InvalidSpecError) as refusal:
        FENCE.check_url("http://ann:hunter2@10.0.0.5/", where="spec.target.base_url")
    assert "hunter2" not in str(refusal.value)
    assert refusal.value.where == "spec.target.base_url"


def test_what_the_operator_allows_passes_and_nothing_beside_it() -> None:
    fence = AddressFence(
        allow_hosts=frozenset({"vllm.internal", "*.models.example", "10.0.0.5"}),
        allow_networks=(ipaddress.ip_network("10.7.0.0/16"),),
    )
    for url in ("http://vllm.internal/", "http://10.7.1.1/", "http://10.0.0.5:8000/v1"):
        assert not is_refused(url, fence)
    for url in ("http://evil.vllm.internal/", "http://10.8.0.1/", "http://10.0.0.6/"):
        assert is_refused(url, fence)
    loopback = ipaddress.ip_address("127.0.0.1")
    fence.check_address("a.models.example", loopback)
    for host in ("models.example", "amodels.example", "a.models.example.evil.com"):
        with pytest.raises(InvalidSpecError):
            fence.check_address(host, loopback)


@given(st.ip_addresses(v=4))
def test_every_spelling_of_an_address_is_the_address(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    octets = [number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255]
    for spelled in (
        str(number),
        hex(number),
        f"0{number:o}",
        ".".join(hex(each) for each in octets),
        ".".join(f"0{each:o}" for each in octets),
        f"{octets[0]}.{number & 0xFFFFFF}",
        f"{octets[0]}.{octets[1]}.{number & 0xFFFF}",
    ):
        assert address_written_as(spelled) == address
        assert is_refused(f"http://{spelled}/") == (why_not_public(address) is not None)


@given(st.ip_addresses(v=4))
def test_an_address_inside_an_ipv6_one_is_judged_as_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for wrapped in (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80):
        if why_not_public(address) is not None:
            assert why_not_public(ipaddress.IPv6Address(wrapped)) is not None


@given(st.ip_addresses())
def test_nothing_passes_that_the_standard_library_calls_not_global(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    leads_to_ipv4 = isinstance(address, ipaddress.IPv6Address) and any(address in each for each in EMBEDDING)
    if not address.is_global and not leads_to_ipv4:
        assert why_not_public(address) is not None


@given(st.text())
def test_no_text_makes_the_fence_fail_in_another_way(text: str) -> None:
    for url in (text, f"http://{text}/"):
        is_refused(url)


def test_hosts_are_compared_in_one_form() -> None:
    assert host_of("https://API.Example.COM.:443/v1") == "api.example.com"
