"""Tells addresses of the public web from those of this machine and its networks.

Apart from the guard that fetches, as more than the web asks this, and the client that fetches loads slowly.
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_CARRY_ANOTHER = (
    IPv6Network("::/96"),  # IPv4-compatible
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated
    IPv6Network("64:ff9b::/96"),  # NAT64
    IPv6Network("64:ff9b:1::/48"),  # NAT64 of a network's own
    IPv6Network("2001::/32"),  # Teredo
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("fec0::/10"),  # site-local
)
"""Networks of IPv6 whose addresses lead to an IPv4 address, which may be a private one; none is needed on the web."""


async def resolve(host: str, port: int) -> list[str]:
    """All addresses that this machine's resolver knows for a name. Numbers in odd notations are addresses, too."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether this is an address of the public Internet, of one machine, and stands for no other address."""
    try:
        ip: IPv4Address | IPv6Address = ip_address(address)
    except ValueError:  # also an IPv6 address with a zone, which is never public
        return False
    if isinstance(ip, IPv6Address) and any(ip in network for network in _CARRY_ANOTHER):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_loopback or ip.is_link_local)
