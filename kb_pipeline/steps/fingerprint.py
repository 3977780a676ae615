"""Content hashes, to find results that need not be computed again, and checksums in files, to detect damage."""

import hashlib
import json
import re
from typing import Any


def sha256(data: bytes) -> str:
    """Return the hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*parts: Any) -> str:
    """Return the hex SHA-256 of JSON-serialisable parts, independent of the order of keys."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode("utf-8", "surrogatepass"))


_SEAL = re.compile(rb',?"sha256":"([0-9a-f]{64})"\}\Z')


def seal(name: str, body: bytes) -> bytes:
    """Append to the JSON object ``body`` a last member with the checksum of its ``name`` and content.

    The name is part of the checksum, so that one file cannot be mistaken for another.
    """
    comma = b"" if body == b"{}" else b","
    return b'%s%s"sha256":"%s"}' % (body[:-1], comma, _checksum(name, body).encode())


def is_sealed(data: bytes) -> bool:
    """Whether the JSON object has a checksum, right or wrong; what another program wrote has none."""
    return _SEAL.search(data) is not None


def unseal(name: str, data: bytes) -> bytes:
    """Return the JSON object without its seal.

    Raises:
        ValueError: it has none, or the checksum does not match this name and content.
    """
    match = _SEAL.search(data)
    body = data[: match.start()] + b"}" if match else b""
    if match is None or _checksum(name, body).encode() != match[1]:
        raise ValueError("its checksum does not match")
    return body


def _checksum(name: str, body: bytes) -> str:
    return sha256(name.encode(errors="surrogatepass") + b"\0" + body)
