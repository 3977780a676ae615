"""Finds the messages in a folder of mail: files ``.eml``, mailboxes in the format mbox, and Maildir.

Only their heads are read. What a mail program notes in them, such as that a message was read, changes nothing.
"""

import email.policy
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import BinaryIO

from kb_pipeline.errors import IntakeError
from kb_pipeline.sources.mail.message import date_of, header
from kb_pipeline.steps.fingerprint import fingerprint

_LONGEST_HEAD = 256_000
"""Bytes of a head: mail servers refuse longer ones."""
_MBOX = b"From "
_BETWEEN = (b"\n", b"\r\n")
_MAILDIR = ("cur", "new")
_FACTS = ("Message-ID", "Date", "From", "Subject", "References", "In-Reply-To")
_EARLY = datetime(1970, 1, 1, tzinfo=UTC)  # for messages without a date: before all others
_MOST_REFERENCES = 200
"""Messages that one says it answers: bounds what hostile ones cost."""


@dataclass(frozen=True)
class Letter:
    """A message, where it is, and what its head says. ``answers`` are the ids of those before it, from the first on."""

    path: Path
    start: int
    size: int
    id: str
    answers: tuple[str, ...]
    subject: str
    date: datetime
    sender: str
    people: frozenset[str]
    version: str
    may_have_files: bool

    def read(self) -> bytes:
        """The whole message.

        Raises:
            IntakeError: it is not there any more.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                data = file.read(self.size)
        except OSError as exc:
            raise IntakeError(f"{self.path} cannot be read: {exc.strerror}") from exc
        # a line of a message that begins as the line between messages was marked
        return data.replace(b"\n>From ", b"\nFrom ") if self.start else data


def letters_in(root: Path) -> Iterator[tuple[str, Letter]]:
    """Each message below a folder, or in one file, with the name of its file below it.

    Raises:
        IntakeError: something cannot be read; which threads would then lack a message is not known.
    """
    for name, path in _files(root):
        try:
            with path.open("rb") as file:
                first = file.read(len(_MBOX))
                if first == _MBOX:
                    for start, size in _mbox(file):
                        yield name, _letter(file, path, start, size)
                elif path.suffix.lower() == ".eml" or path.parent.name in _MAILDIR:
                    yield name, _letter(file, path, 0, os.fstat(file.fileno()).st_size)
        except FileNotFoundError:
            continue  # a mail program moved it meanwhile; it is listed under its new name, or by the next run
        except OSError as exc:
            raise IntakeError(f"{path} cannot be read: {exc.strerror}") from exc


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    if root.is_file():
        yield root.name, root
        return

    def refuse(error: OSError) -> None:
        raise IntakeError(f"{error.filename} cannot be listed: {error.strerror}") from error

    if not root.is_dir():
        raise IntakeError(f"there is no folder and no file {root}; is its disk mounted, was it moved?")
    for folder, folders, files in os.walk(root, onerror=refuse):
        is_maildir = {"cur", "new", "tmp"} <= set(folders)
        folders[:] = sorted(each for each in folders if not (is_maildir and each == "tmp"))
        for file in sorted(files):
            path = Path(folder, file)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix(), path


def _mbox(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """The place and size of each message, without the line that begins it."""
    file.seek(0)
    begin, end, before = 0, 0, _BETWEEN[0]
    places: list[tuple[int, int]] = []
    for line in file:
        if line.startswith(_MBOX) and before in _BETWEEN:
            if end:
                places.append((begin, end - begin))
            begin = end + len(line)
        end += len(line)
        before = line
    places.append((begin, end - begin))
    yield from places


def _letter(file: BinaryIO, path: Path, start: int, size: int) -> Letter:
    file.seek(start)
    data = file.read(min(size, _LONGEST_HEAD))
    length = min((at for at in (data.find(b"\n\n"), data.find(b"\r\n\r\n")) if at >= 0), default=len(data))
    head = BytesHeaderParser(policy=email.policy.compat32).parsebytes(data[:length])
    facts = [header(head, name) for name in _FACTS]
    own = facts[0].strip("<> ") or fingerprint(*facts)[:20]
    answers = _ids(header(head, "References")) or _ids(header(head, "In-Reply-To"))
    return Letter(
        path=path,
        start=start,
        size=size,
        id=own,
        answers=tuple(each for each in answers if each != own)[:_MOST_REFERENCES],
        subject=header(head, "Subject"),
        date=(date_of(header(head, "Date")) or _EARLY).astimezone(UTC),
        sender=header(head, "From"),
        people=frozenset(_addresses(head)),
        version=fingerprint(*facts, size - length)[:20],
        may_have_files=head.get_content_maintype() == "multipart",
    )


def _ids(text: str) -> list[str]:
    return [part.partition(">")[0].strip() for part in text.split("<")[1:] if ">" in part]


def _addresses(head: Message) -> Iterator[str]:
    for name in ("From", "To", "Cc"):
        for part in header(head, name).replace(",", " ").split():
            if "@" in part:
                yield part.strip("<>\"'();").casefold()
