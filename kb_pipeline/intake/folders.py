"""Writes articles into the staging folder, each so that nobody ever sees half of it, and only over its own.

A hidden file in the folder of an article says of which source and item it was made. Folders without it, or with that
of another source, belong to somebody else. So the folders are known again when ``KB_HOME`` was removed.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import SettingsError, StorageError
from kb_pipeline.records import HIDDEN, Record
from kb_pipeline.settings import Settings
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.store.files import names_in, read_bytes, remove_folder, write_bytes

ORIGIN = ".intake.json"
_ARRIVING = ".intake."
_READERS = "access_control_list"
_BLOCK = 1 << 20
"""Bytes that are compared at a time: memory stays flat."""

Files = Mapping[str, bytes | Path]
"""The files of an article by name, in the order in which they are written: the page after what it needs, and who may
read it last, so that nobody gets the old page by the new list; see :meth:`ArticleFolders.restrict`."""


class Origin(Record):
    """Where an article was taken from."""

    source: str
    item: str


class ArticleFolders:
    """The folders of one source in the staging folder."""

    def __init__(self, source: str, settings: Settings) -> None:
        if "://" in settings.staging or settings.staging_holds != "sources":
            raise SettingsError(
                "articles are taken in into a local staging folder of sources; set KB_STAGING to one, and leave out "
                "KB_STAGING_HOLDS"
            )
        self.root = Path(settings.staging)
        self._source = source

    def prepare(self) -> None:
        """Make the staging folder if there is none, and remove what a killed run has left behind.

        Raises:
            StorageError: it cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StorageError(f"cannot make the staging folder {self.root}: {exc.strerror}; set KB_STAGING") from exc
        for name in names_in(UPath(self.root)):
            if name.startswith(f"{_ARRIVING}{self._source}."):  # no source has a dot in its name
                remove_folder(UPath(self.root / name))

    def own(self) -> Iterator[tuple[str, str]]:
        """The id and the item of each article of this source that is there."""
        for article_id in sorted(names_in(UPath(self.root))):
            origin = self.origin(article_id)
            if origin and origin.source == self._source:
                yield article_id, origin.item

    def origin(self, article_id: str) -> Origin | None:
        """Where an article was taken from; ``None`` if it was not taken in, or is not there."""
        return origin_of(self.root, article_id)

    def is_there(self, article_id: str) -> bool:
        """Whether there is anything under this name."""
        return (self.root / article_id).exists()

    def paths(self, article_id: str, files: Files) -> list[Path]:
        """Where the files of an article are."""
        return [self.root / article_id / name for name in (ORIGIN, *files)]

    def write(self, article_id: str, item: str, files: Files) -> bool:
        """Write an article, and say whether anything changed.

        A new folder appears whole. In an existing one each file is replaced as a whole, in their order.

        Raises:
            StorageError: it cannot be written, or somebody else has a folder of this name.
        """
        folder = self.root / article_id
        origin = Origin(source=self._source, item=item)
        files = {ORIGIN: origin.model_dump_json().encode(), **files}
        if not folder.exists():
            self._arrive(folder, files)
            return True
        if self.origin(article_id) != origin:
            raise StorageError(f"{folder} was not taken in from {self._source}, and is left as it is; rename it")
        changed = [name for name, data in files.items() if not _is_same(folder / name, data)]
        for name in changed:
            _put(folder / name, files[name])
        surplus = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - files.keys()
        for name in surplus:
            (folder / name).unlink(missing_ok=True)
        return bool(changed or surplus)

    def _arrive(self, folder: Path, files: Files) -> None:
        arriving = folder.with_name(f"{_ARRIVING}{self._source}.{folder.name}")
        remove_folder(UPath(arriving))
        for name, data in files.items():
            _put(arriving / name, data)
        try:
            arriving.rename(folder)
        except OSError as exc:
            raise StorageError(f"cannot write {folder}: {exc.strerror}") from exc

    def restrict(self, article_id: str, readers: tuple[str, ...]) -> None:
        """Let nobody else read an article from now on, whatever becomes of its new version.

        Whom the new version lets read besides may not read the old one.

        Raises:
            StorageError: it cannot be written.
        """
        origin = self.origin(article_id)
        if origin is None or origin.source != self._source:
            return
        path = self.root / article_id / METADATA_FILE
        metadata = json.loads(read_bytes(path)) if path.is_file() else {}
        old = tuple(metadata.get(_READERS, ()))
        if not readers or (old and set(old) <= set(readers)):
            return
        both = [name for name in readers if not old or name in old] or [HIDDEN]
        write_bytes(UPath(path), metadata_of({**metadata, _READERS: both}))

    def remove(self, article_id: str) -> bool:
        """Remove an article of this source, and say whether it was there.

        Raises:
            StorageError: it cannot be removed.
        """
        origin = self.origin(article_id)
        if origin is None or origin.source != self._source:
            return False
        # hidden first, so that nobody reads half of it
        leaving = self.root / f"{_ARRIVING}{self._source}.{article_id}"
        remove_folder(UPath(leaving))
        try:
            (self.root / article_id).rename(leaving)
        except OSError as exc:
            raise StorageError(f"cannot remove {self.root / article_id}: {exc.strerror}") from exc
        remove_folder(UPath(leaving))
        return True


def origin_of(staging: Path, article_id: str) -> Origin | None:
    """Where an article in a staging folder was taken from; ``None`` if it was not taken in, or is not there."""
    try:
        return Origin.model_validate_json((staging / article_id / ORIGIN).read_bytes())
    except (OSError, ValidationError):
        return None


def metadata_of(values: Mapping[str, object]) -> bytes:
    """A ``metadata.json`` with the values that are not empty."""
    given = {name: value for name, value in values.items() if value}
    return (json.dumps(given, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _is_same(path: Path, data: bytes | Path) -> bool:
    if not path.is_file():
        return False
    if isinstance(data, bytes):
        return path.stat().st_size == len(data) and read_bytes(path) == data
    if path.stat().st_size != data.stat().st_size:
        return False
    with path.open("rb") as one, data.open("rb") as other:
        return all(block == other.read(_BLOCK) for block in iter(lambda: one.read(_BLOCK), b""))


def _put(path: Path, data: bytes | Path) -> None:
    if isinstance(data, bytes):
        write_bytes(UPath(path), data)
        return
    copy = path.with_name(f".{uuid4().hex}")  # not in memory: a document may be large
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(data, copy)
        copy.replace(path)
    except OSError as exc:
        copy.unlink(missing_ok=True)
        raise StorageError(f"cannot copy {data} to {path}: {exc.strerror}") from exc
