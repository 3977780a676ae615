"""Content hashes: the names by which results are recognised and not computed again."""

import hashlib
import json
from typing import Any


def sha256(data: bytes) -> str:
    """Hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*parts: Any) -> str:
    """Hex SHA-256 of JSON-serialisable parts, independent of the order of keys."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode("utf-8", "surrogatepass"))
