"""Makes mails: as they travel, and as Outlook saves them, in the container that Office had before ZIP ([MS-CFB])."""

import struct
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import NamedTuple

_SECTOR, _SMALL_SECTOR, _SMALL = 512, 64, 4096
_PER_TABLE = _SECTOR // 4
_FREE, _END, _TABLE, _NOTHING = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
_UNICODE, _BINARY, _NUMBER = 0x001F, 0x0102, 0x0003


_Level = Mapping[str, bytes | Mapping[str, bytes]]


class File(NamedTuple):
    """A file in a mail."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"
    cid: str = ""


def mail(
    text: str = "", html: str = "", *, subject: str = "", files: Sequence[File] = (), headers: Mapping[str, str] = {}
) -> bytes:
    """Make a mail with these bodies and files."""
    message = EmailMessage()
    for name, value in {"Subject": subject, **headers}.items():
        message[name] = value
    message.set_content(text or "")
    if html:
        message.add_alternative(html, subtype="html")
    for file in files:
        kind, _, detail = file.media_type.partition("/")
        cid = f"<{file.cid}>" if file.cid else None
        message.add_attachment(file.data, maintype=kind, subtype=detail, filename=file.name, cid=cid)
    return message.as_bytes()


def outlook_mail(subject: str = "", text: str = "", html: str = "", files: Sequence[File] = ()) -> bytes:
    """Make the file of a mail in Outlook."""
    values: dict[tuple[int, int], bytes] = {(0x0037, _UNICODE): _wide(subject), (0x1000, _UNICODE): _wide(text)}
    if html:
        values |= {(0x1013, _BINARY): html.encode(), (0x3FDE, _NUMBER): struct.pack("<Q", 65001)}
    tree: dict[str, bytes | Mapping[str, bytes]] = dict(_storage(values, bytes(24) + bytes(8)))
    for number, file in enumerate(files):
        parts: dict[tuple[int, int], bytes] = {
            (0x3701, _BINARY): file.data,
            (0x3707, _UNICODE): _wide(file.name),
            (0x3712, _UNICODE): _wide(file.cid),
        }
        tree[f"__attach_version1.0_#{number:08X}"] = _storage(parts, bytes(8))
    return _container(tree)


def _wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def _storage(values: Mapping[tuple[int, int], bytes], header: bytes) -> dict[str, bytes]:
    entries = header
    for (number, kind), value in sorted(values.items()):
        size = value if kind == _NUMBER else struct.pack("<Q", len(value))
        entries += struct.pack("<HHI", kind, number, 6) + size
    streams = {f"__substg1.0_{number:04X}{kind:04X}": value for (number, kind), value in values.items()}
    return {"__properties_version1.0": entries} | {
        name: value for name, value in streams.items() if not name.endswith(f"{_NUMBER:04X}")
    }


class _Chains:
    """Sectors of one size, and for each the number of the one that follows it."""

    def __init__(self, size: int) -> None:
        self._size, self.data, self.next = size, b"", list[int]()

    def add(self, data: bytes) -> int:
        """Store bytes, and return the number of their first sector."""
        count, first = -(-len(data) // self._size), len(self.next)
        self.data += data.ljust(count * self._size, b"\0")
        self.next += [*range(first + 1, first + count), _END][: count or None] if count else []
        return first if count else _END


def _container(tree: _Level) -> bytes:
    """Write streams and storages, with every entry on the right of the one before."""
    large, small = _Chains(_SECTOR), _Chains(_SMALL_SECTOR)
    entries: list[bytes] = [b""]

    def add(level: _Level) -> int:
        """Add the entries of a level, and return the number of the first."""
        first = len(entries)
        entries.extend(b"" for _ in level)
        for number, (name, value) in enumerate(level.items(), first):
            right = number + 1 if number + 1 < first + len(level) else _NOTHING
            if isinstance(value, bytes):
                start = (small if len(value) < _SMALL else large).add(value)
                entries[number] = _entry(name, 2, right, _NOTHING, start, len(value))
            else:
                entries[number] = _entry(name, 1, right, add(value), 0, 0)
        return first if level else _NOTHING

    child = add(tree)
    entries[0] = _entry("Root Entry", 5, _NOTHING, child, large.add(small.data), len(small.data))
    small_table = large.add(struct.pack(f"<{len(small.next)}I", *small.next))
    directory = large.add(b"".join(entries))
    tables = next(count for count in range(1, 100) if count * _PER_TABLE >= len(large.next) + count)
    table = [*large.next, *[_TABLE] * tables]
    table += [_FREE] * (tables * _PER_TABLE - len(table))
    places = range(len(large.next), len(large.next) + tables)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIIIIIIII", 0, tables, directory, 0, _SMALL, small_table, 1, _END, 0)
    head += struct.pack("<109I", *places, *[_FREE] * (109 - tables))
    return head + large.data + struct.pack(f"<{len(table)}I", *table)


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    wide = _wide(name) + b"\0\0"
    ids = struct.pack("<HBBIII", len(wide), kind, 1, _NOTHING, right, child)
    return wide.ljust(64, b"\0") + ids + bytes(36) + struct.pack("<IQ", start, size)
