"""Servers for this machine only: which names a request may call them by.

A page of another site can have its own name lead to this machine, and would then read everything.
"""

from ipaddress import ip_address

_NAMES = ("127.0.0.1", "localhost", "[::1]")


def names_on_loopback(host: str) -> list[str] | None:
    """The names by which a server at this address may be called; ``None`` where it is not on loopback: by any."""
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    return [*_NAMES, host] if local else None
