"""Which addresses are of the public web, which of our own networks, and which of the platform beneath."""

import pytest

from kb_pipeline.services.web.addresses import is_own, is_public


def test_addresses_of_the_public_web_are_public() -> None:
    neighbours = (
        "168.63.129.15 168.63.129.17 161.25.0.1 166.12.0.0 199.36.153.12 192.0.1.0 223.255.255.255 2600:2d00:2:3000::"
    )
    others = (
        "8.8.8.8 2600:2d00:2:3000:: 2606:4700::1111 2a00:1450::5 2001:200::1 2001:4860:4860::8888 2606:4700::1:5efe:1:1"
    )
    assert [each for each in [*neighbours.split(), *others.split()] if not is_public(each)] == []


INSIDE = """
platforms of Azure, IBM: 168.63.129.16 161.26.0.10 166.8.0.1 166.11.255.255
of Google: 199.36.153.4 199.36.153.11 2600:2d00:2:1000::1 2600:2d00:2:20ff::
metadata: 169.254.169.254 169.254.170.2 169.254.0.23 169.254.42.42 100.100.100.200 192.0.0.192
metadata in IPv6: fd00:ec2::254 fd20:ce::254 fd00:42::42 fe80::a9fe:a9fe fd00:a9fe:a9fe::1
protocols: 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.31.196.1 192.52.193.1 192.175.48.1 192.88.99.1
special: 198.19.0.1 198.51.100.1 203.0.113.1 192.0.2.1 0.1.2.3 240.0.0.1
IPv4 compatible, mapped, translated: ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:7f00:1
tunnels: 64:ff9b::7f00:1 64:ff9b:1::7f00:1 64:ff9b:1:ffff::1 2002:7f00:1:: 2001:0:1::1
ISATAP: 2606:4700::5efe:7f00:1 2606:4700::200:5efe:7f00:1 2606:4700::200:5efe:808:808
protocols in IPv6: 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2620:4f:8000::1
special in IPv6: 2001:db8::1 3fff::1 3fff:fff:: 3ffe::1 100::1 100:0:0:1::1 5f00::1 fec0::1 fe00::1
not assigned, multicast, own: 1::1 4000::1 200::1 ff02::1 ff0e::1 :: ::1 fc00::1
no addresses: 2606:4700::1%eth0 fe80::1%eth0 127.1 0x7f000001 localhost 1.1.1.1.
""".strip().splitlines()


@pytest.mark.parametrize(("kind", "addresses"), [line.split(": ", 1) for line in INSIDE])
def test_addresses_that_may_lead_into_a_network_are_not(kind: str, addresses: str) -> None:
    assert [each for each in addresses.split() if is_public(each)] == [], kind


def test_addresses_of_our_own_networks_are_own_and_not_public() -> None:
    own = "127.0.0.1 127.1.2.3 10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1 ::1 fd00::1 fc00:1::1".split()
    assert [each for each in own if not is_own(each) or is_public(each)] == []


def test_addresses_of_a_platform_and_of_the_public_web_are_not_own() -> None:
    others = "168.63.129.16 169.254.169.254 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254 fd00:42::42 "
    others += "fd00:a9fe:a9fe::1 fe80::1 fe80::1%eth0 ::1%lo 0.0.0.0 :: 8.8.8.8 172.32.0.1 224.0.0.1 ::ffff:127.0.0.1"
    assert [each for each in [*others.split(), "localhost", "127.1", ""] if is_own(each)] == []
