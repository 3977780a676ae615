"""A blob's content as a file object: read as it arrives, written once it is complete."""

import io
import mimetypes
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_TYPES = {".md": "text/markdown; charset=utf-8", ".jsonl": "application/jsonl", ".webp": "image/webp"}


def content_type(path: str) -> str:
    """What browsers are told that a file is, by its name."""
    suffix = PurePosixPath(path).suffix.lower()
    return _TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")


class Download(io.RawIOBase):
    """Chunks of a blob as a stream: a large attachment is never in memory as a whole."""

    def __init__(self, chunks: Iterator[bytes], explained: Callable[[], AbstractContextManager[None]]) -> None:
        self._chunks, self._explained = chunks, explained
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer as far as the next chunk goes."""
        with self._explained():
            while not self._left and (chunk := next(self._chunks, None)) is not None:
                self._left = memoryview(chunk)
        room = memoryview(buffer).cast("B")
        count = min(len(room), len(self._left))
        room[:count], self._left = self._left[:count], self._left[count:]
        return count


class Upload(io.BytesIO):
    """What is written, kept until it is closed; nothing is uploaded when the writer failed."""

    def __init__(self, upload: Callable[[bytes], object]) -> None:
        super().__init__()
        self._upload = upload

    def __exit__(self, kind: object, *_: object) -> None:
        """Upload, unless there was an error."""
        if kind is None:
            self.close()
        else:
            super().close()

    def close(self) -> None:
        """Upload."""
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._upload(data)
