"""Hostile ZIP archives for tests, written record by record, as no library writes them."""

import io
import stat
import struct
import zipfile
import zlib


def with_entry(data: bytes, name: str, content: bytes = b"x") -> bytes:
    """The archive with one more entry, whatever its name."""
    return _added(data, zipfile.ZipInfo(name), content)


def with_link(data: bytes, name: str, target: str) -> bytes:
    """The archive with a symbolic link, as Unix programs store it."""
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return _added(data, entry, target.encode())


def with_shared_bytes(data: bytes, names: int) -> bytes:
    """The archive with this many names for the same megabyte, which is stored once."""
    content = b"a" * 1_000_000
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    name, at = b"media/000000.png", _start(data)
    sizes = (zlib.crc32(content), len(packed), len(content), len(name))
    stored = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, *sizes, 0) + name + packed
    entries = b"".join(_entry(b"media/%06d.png" % number, sizes, at) for number in range(names))
    return _written(data[:at] + stored, _directory(data) + entries, _count(data) + names)


def with_many_names(data: bytes, names: int) -> bytes:
    """The archive with this many empty files."""
    entries = b"".join(_entry(b"x%06d" % number, (0, 0, 0, 7), 0) for number in range(names))
    return _written(data[: _start(data)], _directory(data) + entries, _count(data) + names)


def _added(data: bytes, entry: zipfile.ZipInfo, content: bytes) -> bytes:
    packed = io.BytesIO(data)
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(entry, content)
    return packed.getvalue()


def _start(data: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.start_dir


def _count(data: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return len(archive.infolist())


def _directory(data: bytes) -> bytes:
    return data[_start(data) : data.rindex(b"PK\5\6")]


def _entry(name: bytes, sizes: tuple[int, int, int, int], at: int) -> bytes:
    method = 8 if sizes[1] else 0
    return struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, method, 0, 33, *sizes, 0, 0, 0, 0, 0, at) + name


def _written(files: bytes, directory: bytes, count: int) -> bytes:
    """The archive of these files, whose directory may be longer than the old form can say (ZIP64)."""
    end = len(files) + len(directory)
    long_form = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), len(files))
    long_form += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    short = min(count, 0xFFFF)
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, short, short, len(directory), len(files), 0)
    return files + directory + (long_form if count > short else b"") + tail
