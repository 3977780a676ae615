"""Keeps a copy of folders of an IMAP server: a file ``.eml`` for each message, named by its number there.

A message never changes, so that each is fetched once. Its file has the server's number for this state of the folder
(UIDVALIDITY) in its name: after the server counted anew, all are other messages. Nothing on the server is changed, not
even that a message was read.
"""

import imaplib
import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType

from upath import UPath

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.store.files import remove_file, write_bytes

_SECONDS = 60.0
"""How long an answer may take."""
_AT_ONCE = 10_000_000
"""Bytes of messages that are asked for at a time; a message of more alone."""
_MOST_AT_ONCE = 200
"""Messages that are asked for at a time: their numbers fit into a command."""
_FOLDER = re.compile(rb'\((?P<flags>[^)]*)\) (?:"(?P<between>\\?.)"|NIL) (?P<name>.+)', re.DOTALL)
_SIZE = re.compile(rb"\bUID (\d+)\b.*\bRFC822\.SIZE (\d+)|\bRFC822\.SIZE (\d+)\b.*\bUID (\d+)")
_UID = re.compile(rb"\bUID (\d+)")
_SHIFTED = re.compile(rb"&([^-]*)-")
_PLAIN = " _-+@"
"""Besides letters and digits, what a name of a folder may have on a disk; all else is written with ``%``."""

Progress = Callable[[int], None]


class ImapServer:
    """A connection to a server, signed in, by TLS.

    With ``is_token``, the secret is a token of OAuth in place of a password, given as Microsoft and Google take it
    (XOAUTH2).

    Raises:
        IntakeError: it refuses the secret, or does not answer as IMAP does.
        TransientError: it cannot be reached now.
    """

    def __init__(self, host: str, port: int, user: str, secret: str, *, is_token: bool = False) -> None:
        self._where = f"{host}:{port}"
        with self._told():
            self._client = imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=_SECONDS)
        try:
            with self._told():
                if is_token:
                    self._client.authenticate("XOAUTH2", _bearer(user, secret))
                else:
                    self._client.login(user, secret)
        except BaseException:
            self._client.shutdown()
            raise

    def __enter__(self) -> "ImapServer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.shutdown()  # nothing was begun that a farewell would end

    def folders(self) -> Mapping[str, bytes]:
        """The folders that hold messages: as people see their names, with ``/`` between levels, and as commands do."""
        found: dict[str, bytes] = {}
        for answer in self._asked(self._client.list):
            # a name with unusual characters follows by itself
            head, literal = answer if isinstance(answer, tuple) else (answer, None)
            if head is None or not (folder := _FOLDER.fullmatch(head)):
                continue
            name = literal if literal is not None else folder["name"]
            raw = name[1:-1].replace(b'\\"', b'"').replace(b"\\\\", b"\\") if name.startswith(b'"') else name
            if b"\\noselect" not in folder["flags"].lower() and b"\\nonexistent" not in folder["flags"].lower():
                found[_shown(raw, folder["between"])] = raw
        return found

    def open(self, raw: bytes) -> tuple[int, dict[int, int]]:
        """Open a folder for reading: the number of its state, and the size in bytes of each message by its number."""
        quoted = '"' + raw.decode("ascii", "surrogateescape").replace("\\", "\\\\").replace('"', '\\"') + '"'
        messages = int(self._asked(lambda: self._client.select(quoted, readonly=True))[0] or 0)
        validity = self._client.response("UIDVALIDITY")[1][0]
        if validity is None:
            raise IntakeError(f"{self._where} does not number the messages of {quoted} (UIDVALIDITY)")
        sizes: dict[int, int] = {}
        for line in self._asked(lambda: self._client.uid("FETCH", "1:*", "(UID RFC822.SIZE)")) if messages else ():
            if line and (found := _SIZE.search(line if isinstance(line, bytes) else line[0])):
                sizes[int(found[1] or found[4])] = int(found[2] or found[3])
        if len(sizes) < messages:
            raise TransientError(f"{self._where} listed {len(sizes):,} of {messages:,} messages of {quoted}")
        return int(validity), sizes

    def fetch(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Messages of the folder that is open; those that are gone meanwhile are left out."""
        chosen = ",".join(map(str, numbers))
        for answer in self._asked(lambda: self._client.uid("FETCH", chosen, "(UID BODY.PEEK[])")):
            if isinstance(answer, tuple) and (found := _UID.search(answer[0])):
                yield int(found[1]), answer[1]

    def _asked(self, ask: Callable[[], tuple[str, list]]) -> list:  # type: ignore[type-arg]
        with self._told():
            status, answer = ask()
        if status != "OK":
            raise IntakeError(f"{self._where} refuses: {answer[0].decode('utf-8', 'replace') if answer else status}")
        return answer

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except ssl.SSLCertVerificationError as exc:
            raise IntakeError(f"{self._where} has no certificate that is trusted: {exc.verify_message}") from exc
        except (imaplib.IMAP4.abort, OSError) as exc:
            raise TransientError(f"{self._where} cannot be reached, or broke off: {exc}") from exc
        except imaplib.IMAP4.error as exc:
            said = exc.args[0] if exc.args else exc
            said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
            raise IntakeError(f"{self._where} refuses: {said}") from exc


def _bearer(user: str, token: str) -> Callable[[bytes], bytes]:
    """What answers the server: first the token, and then nothing, which ends what it says of one that it refuses."""
    answers = iter([f"user={user}\x01auth=Bearer {token}\x01\x01".encode()])
    return lambda challenge: next(answers, b"")


def copy_folders(
    server: ImapServer, wanted: Iterable[str], copy: Path, largest: int, progress: Progress | None = None
) -> dict[str, str]:
    """Bring a copy up to date: fetch what is new in these folders, and remove what is gone.

    ``wanted`` are names of folders, in which ``*`` stands for any letters. Returns why messages are not copied.

    Raises:
        IntakeError: there is no such folder, or the server refuses something.
        TransientError: it broke off. What was fetched so far is kept.
    """
    there = server.folders()
    chosen: dict[str, bytes] = {}
    for pattern in wanted:
        found = {name: raw for name, raw in there.items() if fnmatchcase(name.casefold(), pattern.casefold())}
        if not found:
            raise IntakeError(f"there is no folder {pattern} on the server; there are: {', '.join(there)}")
        chosen |= found
    kept: set[Path] = set()
    refused: dict[str, str] = {}
    fetched = 0
    for name, raw in chosen.items():
        validity, sizes = server.open(raw)
        folder = copy.joinpath(*(_on_disk(step) for step in name.split("/")))
        files = {number: folder / f"{validity}-{number}.eml" for number in sizes}
        for number in [number for number, size in sizes.items() if size > largest]:
            reason = f"has {sizes[number]:,} bytes, at most {largest:,} are read; raise KB_DOCUMENT_BYTES"
            refused[f"{name}/{number}"] = f"message {number} in {name} {reason}"
            del files[number]
        kept.update(files.values())
        missing = [number for number, path in files.items() if not path.exists()]
        for numbers in _portions(missing, sizes):
            for number, data in server.fetch(numbers):
                if number in files:
                    write_bytes(UPath(files[number]), data)
                    fetched += 1
            if progress:
                progress(fetched)
    for path in copy.rglob("*.eml"):
        if path not in kept:
            remove_file(UPath(path))
    return refused


def _portions(numbers: Iterable[int], sizes: Mapping[int, int]) -> Iterator[list[int]]:
    portion: list[int] = []
    for number in numbers:
        if portion and (
            len(portion) >= _MOST_AT_ONCE or sum(map(sizes.__getitem__, portion)) + sizes[number] > _AT_ONCE
        ):
            yield portion
            portion = []
        portion.append(number)
    if portion:
        yield portion


def _shown(raw: bytes, between: bytes | None) -> str:
    """The name of a folder as people see it: servers write other letters than ASCII in a kind of UTF-7."""

    def letters(match: re.Match[bytes]) -> bytes:
        shifted = b"+" + match[1].replace(b",", b"/") + b"-"
        return shifted.decode("utf-7", "replace").encode("utf-8", "replace") if match[1] else b"&"

    steps = raw.split(between[-1:]) if between else [raw]
    return "/".join(_SHIFTED.sub(letters, step).decode("utf-8", "replace").replace("/", "_") for step in steps)


def _on_disk(step: str) -> str:
    return "".join(letter if letter.isalnum() or letter in _PLAIN else _escaped(letter) for letter in step) or "%"


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode())  # also dots, which lead upwards
