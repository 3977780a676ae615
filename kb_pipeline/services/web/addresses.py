"""Tells addresses of the public web from those of this machine, its networks and the cloud that it runs in.

The ranges stand here, because ``ipaddress.is_global`` has others in each version of Python. They stand apart from the
guard, because more than the web needs them, and the client that fetches loads slowly.
"""

import asyncio
import socket
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network

_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is assigned to the public Internet. Outside of it are loopback, unique local, link-local, site-local
and multicast addresses, and those that carry one of IPv4: compatible, mapped, translated, NAT64."""
_SPECIAL = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3ffe::/16 3fff::/20
""".split()
"""IANA's registries of special-purpose addresses (RFC 6890), whole blocks; the metadata services of clouds are in them:
AWS, Azure, Google, DigitalOcean and Hetzner 169.254.169.254, Alibaba 100.100.100.200, Oracle 192.0.0.192."""
_PLATFORMS = """
    168.63.129.16
    161.26.0.0/16 166.8.0.0/14
    199.36.153.4/30 199.36.153.8/30 2600:2d00:2:1000::/56 2600:2d00:2:2000::/56
""".split()
"""Look public, but lead to the platform from inside of a cloud: Azure's host (learn.microsoft.com: "What is IP address
168.63.129.16?"), IBM's services and service endpoints (cloud.ibm.com: reserved ranges of a VPC), Google's APIs by
restricted.googleapis.com and private.googleapis.com (cloud.google.com: "Private Google Access")."""
_REFUSED = tuple(map(ip_network, (*_SPECIAL, *_PLATFORMS)))
_OWN = tuple(map(ip_network, "10.0.0.0/8 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7".split()))
"""This machine and the networks that somebody set up around it; no metadata service of a cloud is there but by IPv6."""
_METADATA = tuple(map(ip_network, ("fd00:ec2::/32", "fd20:ce::/32", "fd00:42::/32", "fd00:a9fe:a9fe::/48")))
"""Where AWS, Google, Scaleway and others tell machines about themselves by IPv6."""
_ISATAP = 0x5EFE
"""Before the address of IPv4 that an interface has (RFC 5214), but for the bit that says whether it is unique."""


async def resolve(host: str, port: int) -> list[str]:
    """All addresses that this machine's resolver knows for a name. Numbers in odd notations are addresses, too."""
    answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in answers))


def is_public(address: str) -> bool:
    """Whether this is an address of the public Internet, of one machine, and stands for no other address."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        is_isatap = (int(ip) >> 32) & 0xFFFF == _ISATAP and (int(ip) >> 48) & 0xFDFF == 0
        if ip.scope_id or ip not in _UNICAST or is_isatap:
            return False
    return not any(ip in network for network in _REFUSED)


def is_own(address: str) -> bool:
    """Whether this is an address of this machine or of a private network, and of no platform that these run on."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.scope_id:
        return False
    return any(ip in network for network in _OWN) and not any(ip in network for network in _METADATA)
