"""Reads the authors' staging folder: which folders and loose files are articles, and the files of an article.

Nothing is ever written here. Names, links and sizes are hostile until they are checked.
"""

import errno
import hashlib
import os
import posixpath
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import IO, ClassVar, NamedTuple

from upath import UPath

from kb_pipeline.errors import (
    InvalidArticleIdError,
    KnowledgeBaseError,
    StorageError,
    UnreadableArticleError,
    VanishedArticleError,
)
from kb_pipeline.records import StagedArticle, StagedFile
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.main_file import INDEX_FILE, is_loose_document, is_page, main_file, may_have_main_file
from kb_pipeline.steps.metadata import LARGEST_METADATA, METADATA_FILE, may_be_metadata_file, read_metadata
from kb_pipeline.store.loose_files import (
    BESIDE,
    LooseFiles,
    is_part_of_pages,
    loose_files,
    parts_named,
    staged_path,
)
from kb_pipeline.store.passed_over import is_junk_folder, pages_beside
from kb_pipeline.store.staging_files import (
    FileFacts,
    local_files,
    local_top_files,
    remote_files,
    remote_top_files,
    signature_of,
)

_AT_ONCE = 8
"""Files that are read at the same time from a remote store."""
_BLOCK = 1 << 20
"""Bytes that are hashed at a time."""
_SMALL = 8 << 20
"""Bytes up to which a file is read whole. Larger files are read in blocks, and are never in memory as a whole."""
_SEARCHED = 32 << 20
"""Bytes of a page that are searched for what lies beside it; saved pages with their pictures inside have some MB."""
_CACHE = 64 << 20
_CACHE_OF_A_DISK = 16 << 20
"""Bytes of file contents to cache; few articles have more."""


class StagedContents:
    """Reads the contents of staged files, with a cache of the files read last."""

    def __init__(self, root: UPath, *, has_loose: bool = True) -> None:
        self.root = root
        self._has_loose = has_loose
        self._cache = _Cache(_CACHE_OF_A_DISK if isinstance(root, Path) else _CACHE)

    def hashed(self, article_id: str, files: Sequence[FileFacts]) -> list[StagedFile]:
        """Read each file, and return its size and hash.

        Raises:
            StorageError: one cannot be read.
        """
        if isinstance(self.root, Path):
            return [self._hashed(article_id, file) for file in files]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda file: self._hashed(article_id, file), files))

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        """Read a whole file, as :meth:`hashed` read it.

        Raises:
            StorageError: it cannot be read, or has changed since.
        """
        cached = self._cache.get(expected_sha256)
        if cached and self._is_current(cached, article_id, name):
            return cached.data
        path = self.path(article_id, name)
        with _translated_errors(self.root, path), self._opened(path) as file:
            data = file.read()
        if sha256(data) != expected_sha256:
            raise StorageError(f"{self.root}/{path} was changed while the article was being read; ingest it again")
        return data

    def path(self, article_id: str, name: str) -> str:
        """Where a file of an article lies, below the staging folder."""
        return staged_path(article_id, name) if self.is_loose(article_id) else f"{article_id}/{name}"

    def is_loose(self, article_id: str) -> bool:
        """Whether the article is a loose file: it has the name of a document, and there is no folder of this name."""
        if not self._has_loose or not is_loose_document(article_id):
            return False
        if isinstance(self.root, Path):
            return not Path(f"{self.root}/{article_id}").is_dir()
        with _translated_errors(self.root, article_id):
            return not self.root.fs.isdir(f"{self.root.path}/{article_id}")

    def current(self, article_id: str, name: str, *, most: int) -> bytes:
        """Read the first ``most`` bytes of a file as it is now.

        Raises:
            StorageError: it cannot be read.
        """
        path = self.path(article_id, name)
        with _translated_errors(self.root, path), self._opened(path) as file:
            return file.read(most)

    def _hashed(self, article_id: str, file: FileFacts) -> StagedFile:
        path = self.path(article_id, file.name)
        with _translated_errors(self.root, path), self._opened(path) as opened:
            if file.size > _SMALL:
                return _hashed_in_blocks(file.name, opened)
            data = opened.read()
        staged = StagedFile(name=file.name, size=len(data), sha256=sha256(data))
        self._cache.add(staged.sha256, _Cached(data, article_id, file))
        return staged

    def _is_current(self, cached: "_Cached", article_id: str, name: str) -> bool:
        """Whether the file is still what was cached. In the cloud its hash is enough, because reading is expensive."""
        if not isinstance(self.root, Path):
            return True
        if (cached.article_id, cached.file.name) != (article_id, name):
            return False
        path = self.path(article_id, name)
        with _translated_errors(self.root, path):
            stat = Path(f"{self.root}/{path}").stat()
        return (stat.st_size, str(stat.st_mtime_ns)) == (cached.file.size, cached.file.version)

    def _opened(self, path: str) -> IO[bytes]:
        if isinstance(self.root, Path):
            return Path(f"{self.root}/{path}").open("rb")
        opened: IO[bytes] = self.root.fs.open(f"{self.root.path}/{path}")  # UPath would misread "?" and "#" in a name
        return opened


def _hashed_in_blocks(name: str, file: IO[bytes]) -> StagedFile:
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):  # attachments may be larger than memory
        digest.update(block)
        size += len(block)
    return StagedFile(name=name, size=size, sha256=digest.hexdigest())


class _Cached(NamedTuple):
    """A file's content, and its facts when it was read."""

    data: bytes
    article_id: str
    file: FileFacts


class _Cache:
    """The files read last, by their SHA-256."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._files: OrderedDict[str, _Cached] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, digest: str) -> _Cached | None:
        return self._files.get(digest)

    def add(self, digest: str, cached: _Cached) -> None:
        with self._lock:
            if digest not in self._files:
                self._size += len(cached.data)
            self._files[digest] = cached
            while self._size > self._limit:
                self._size -= len(self._files.popitem(last=False)[1].data)


_PAGES_OF = "/*.html"
"""After an article's id: the pages in its folder that are not read."""
_ITS_OWN = {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG}
"""Error numbers that concern one folder, and do not mean that the store is out of reach."""


@dataclass(frozen=True)
class StagingListing:
    """Article ids in order of name, and ``refused`` folders with the reason."""

    article_ids: tuple[str, ...]
    refused: dict[str, str]


@dataclass(frozen=True)
class StagingScan:
    """The staging folder as found by a scan that opens no file.

    Attributes:
        signatures: the signature of each article, by id.
        newest: when each folder last changed, in seconds, including refused ones.
        refused: files and folders that are not articles, with the reason.
        beside: ids of articles that are not of the authors' folder, but of one beside it.
        parts: the pictures, styles and scripts that the loose pages may use; a change of one counts for each page.
        part_folders: the folders that hold such parts, and are no articles.
    """

    signatures: dict[str, str] = field(default_factory=dict)
    newest: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    parts: list[FileFacts] = field(default_factory=list)
    part_folders: set[str] = field(default_factory=set)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the signatures and the refused folders."""
        return fingerprint(self.signatures, self.refused)


class Staging:
    """A staging folder, local or remote.

    ``metadata_file`` says who may read an article. With ``has_loose``, a document in the staging folder itself is one.
    ``made_elsewhere``: articles are not sources, but what another program made of them; see ``store/staged_serving``.
    """

    metadata_file: ClassVar[str] = METADATA_FILE
    has_loose: ClassVar[bool] = True
    made_elsewhere: ClassVar[bool] = False

    def __init__(self, root: UPath) -> None:
        self.root = root
        self._contents = StagedContents(root, has_loose=self.has_loose)

    def list_articles(self, *, look_inside: bool = False) -> StagingListing:
        """List the articles: folders and loose files; with ``look_inside`` what folders hold that is not read, too.

        Raises:
            StorageError: the staging folder does not exist or cannot be listed.
        """
        refused: dict[str, str] = {}
        with self._translated_listing_errors():
            folders, top = self._top()
            loose = self._loose(top, {name for name, _ in folders})
            parts = self._scanned().part_folders if loose.pages else set()
            accepted = [
                name for name, is_link in folders if name not in parts and self._accept(name, refused, is_link=is_link)
            ]
        refused |= {name: reason for name, (reason, _) in loose.refused.items()}
        if look_inside:
            refused |= {name: reason for name, reason in self.scan().refused.items() if name.endswith(_PAGES_OF)}
        return StagingListing(tuple(sorted([*accepted, *loose.articles])), refused)

    def scan(self) -> StagingScan:
        """Compute the signatures of all articles from names, sizes, and times or ETags, in one pass.

        Raises:
            StorageError: the store cannot be reached or listed.
        """
        return self._scanned()

    def _scanned(self) -> StagingScan:
        scan = StagingScan()
        with self._translated_listing_errors():
            if isinstance(self.root, Path):
                self._scan_locally(scan)
            else:
                self._scan_remotely(scan)
        return scan

    def _top(self) -> tuple[list[tuple[str, bool]], list[FileFacts]]:
        """The folders' names in order, each with whether it is a link, and the files beside them."""
        if not isinstance(self.root, Path):
            files, folders = remote_top_files(self.root)
            return sorted((name, False) for name in folders), files
        with os.scandir(str(self.root)) as entries:
            names = sorted((entry.name, entry.is_symlink()) for entry in entries if _is_folder(entry))
        return names, list(local_top_files(str(self.root)))

    def _loose(self, top: Iterable[FileFacts], folders: Set[str]) -> LooseFiles:
        if not self.has_loose:
            return LooseFiles({}, {})
        # in the cloud a folder may have the name of a file beside it; the folder is the article
        return loose_files(file for file in top if file.name not in folders)

    def _add_loose(self, scan: StagingScan, loose: LooseFiles) -> None:
        """Add the loose articles, after all folders: ``scan.parts`` are those of the pages."""
        scan.parts.extend(loose.parts)
        of_parts = signature_of(scan.parts) if scan.parts else ""
        newest_part = max((file.changed for file in scan.parts), default=0.0)
        for name, files in loose.articles.items():
            scan.signatures[name] = signature_of(files)
            scan.newest[name] = max(file.changed for file in files)
            if of_parts and is_page(name):
                scan.signatures[name] = fingerprint(scan.signatures[name], of_parts)[:32]
                scan.newest[name] = max(scan.newest[name], newest_part)
        for name, (reason, file) in loose.refused.items():
            scan.refused[_writable(name)], scan.newest[_writable(name)] = reason, file.changed

    def _scan_locally(self, scan: StagingScan) -> None:
        folders, top = self._top()
        loose = self._loose(top, {name for name, _ in folders})
        for name, is_link in folders:
            if self._may_be_looked_into(name, loose.pages, scan.refused, is_link=is_link):
                try:
                    left_out: list[str] = []
                    self._add(scan, name, list(local_files(f"{self.root}/{name}", left_out)), left_out, loose.pages)
                except (FileNotFoundError, NotADirectoryError):
                    self.root.stat()  # raises if not only this article is gone, but the whole staging folder
                except OSError as exc:
                    if exc.errno not in _ITS_OWN:
                        raise
                    scan.refused[name] = f"{name} cannot be read ({exc.strerror}); check the folder's permissions"
        self._add_loose(scan, loose)

    def _scan_remotely(self, scan: StagingScan) -> None:
        files = [(*file.name.partition("/"), file) for file in remote_files(self.root)]
        below = sorted((name, file._replace(name=rest)) for name, slash, rest, file in files if slash)
        top = [file for _, slash, _, file in files if not slash]
        loose = self._loose(top, {name for name, _ in below})
        for name, group in groupby(below, key=lambda item: item[0]):
            if self._may_be_looked_into(name, loose.pages, scan.refused, is_link=False):
                self._add(scan, name, [file for _, file in group], (), loose.pages)
        self._add_loose(scan, loose)

    def _add(
        self, scan: StagingScan, name: str, files: list[FileFacts], left_out: Sequence[str], pages: Set[str]
    ) -> None:
        names = {file.name for file in files}
        if is_part_of_pages(name, names, pages):
            scan.part_folders.add(name)
            scan.parts.extend(file._replace(name=f"{name}/{file.name}") for file in files if not is_page(file.name))
            return
        if pages and not self._accept(name, scan.refused, is_link=False):
            return
        if self.may_be_article(names):
            scan.signatures[name] = self._signature(files, left_out)
            scan.newest[name] = max(file.changed for file in files)
            if unread := self._pages_beside(name, names):
                scan.refused[name + _PAGES_OF], scan.newest[name + _PAGES_OF] = unread, scan.newest[name]
        else:
            scan.refused[name] = self._no_main_file(name, names)
            # only a local folder can be empty
            scan.newest[name] = max(file.changed for file in files) if files else (self.root / name).stat().st_mtime

    def _pages_beside(self, article_id: str, names: Set[str]) -> str:
        try:
            pages = pages_beside(names, self.main_file(article_id, names)) if self.has_loose else ""
        except UnreadableArticleError:
            return ""  # the conversion says it
        return pages and f"{article_id}: {pages} ({self.root / article_id})"

    def _no_main_file(self, article_id: str, names: Set[str]) -> str:
        try:
            self.main_file(article_id, names)
        except UnreadableArticleError as exc:
            return f"{article_id}: {exc} ({self.root / article_id})"
        return ""

    def may_be_article(self, names: Collection[str]) -> bool:
        """Whether a folder with these files can be an article, before one of them is opened."""
        return may_have_main_file(names)

    def main_file(self, article_id: str, files: Mapping[str, StagedFile] | Set[str]) -> str:
        """The name of the main file; ``files`` may be names alone, as long as nothing is opened.

        Raises:
            UnreadableArticleError: there is none, or several could be it.
        """
        chosen = ""
        if is_loose_document(article_id) and article_id in files and INDEX_FILE not in files:
            return article_id
        if isinstance(files, Mapping) and INDEX_FILE not in files and METADATA_FILE in files:
            with suppress(UnreadableArticleError):  # the conversion says what is wrong with it
                metadata = self.read(article_id, METADATA_FILE, files[METADATA_FILE].sha256)
                chosen = read_metadata(metadata).metadata.main or ""
        return main_file(files, chosen)

    def may_be_misspelt(self, name: str, names: Set[str]) -> bool:
        """Whether a file at the top of an article's folder may be meant as its metadata, and would be ignored."""
        return METADATA_FILE not in names and may_be_metadata_file(name)

    def signature(self, article_id: str) -> str:
        """The article's signature, as in :meth:`scan`; empty if there is no such folder.

        Raises:
            StorageError: the folder cannot be listed.
        """
        if is_page(check_article_id(article_id)) and self._contents.is_loose(article_id):
            return self._scanned().signatures.get(article_id, "")
        left_out: list[str] = []
        files = self._files(article_id, left_out)
        return "" if files is None else self._signature(files, left_out)

    def _signature(self, files: Sequence[FileFacts], left_out: Iterable[str]) -> str:
        """Return the signature of files; what :meth:`_check_metadata_file` refuses beside them counts, too."""
        names = {file.name for file in files}
        refused = [name for name in left_out if self._would_be_ignored(name, names)]
        return fingerprint(signature_of(files), sorted(refused))[:32] if refused else signature_of(files)

    def _files(self, article_id: str, left_out: list[str] | None = None) -> list[FileFacts] | None:
        """The article's files, with one request if it is a folder in the cloud; ``None`` if it is not staged."""
        folder = self.root / check_article_id(article_id)
        with _translated_errors(self.root, article_id):
            if self._contents.is_loose(article_id):
                return loose_files(self._files_like(article_id)).articles.get(article_id)
            if isinstance(folder, Path):
                is_ours = folder.is_dir() and self._is_inside(folder)
                return list(local_files(str(folder), left_out)) if is_ours else None
            try:
                return list(remote_files(folder))
            except FileNotFoundError:
                return None

    def _files_like(self, article_id: str) -> Iterable[FileFacts]:
        """The loose files whose names begin like this one, without its ending: what may be its metadata, too."""
        if isinstance(self.root, Path):
            return local_top_files(str(self.root))
        files: dict[str, FileFacts] = {}
        for beginning in (posixpath.splitext(article_id)[0], METADATA_FILE):
            with suppress(FileNotFoundError):  # nothing is there whose name begins so
                files |= {file.name: file for file in remote_top_files(self.root, beginning)[0]}
        return files.values()

    @contextmanager
    def _translated_listing_errors(self) -> Iterator[None]:
        try:
            yield
        except KnowledgeBaseError:
            raise
        except Exception as exc:  # each store's client raises errors of its own
            problem = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
            what_to_do = "check that it can be reached, or set KB_STAGING"
            if isinstance(exc, FileNotFoundError) and isinstance(self.root, Path):
                what_to_do += "; kb init makes a folder with samples"
            raise StorageError(f"cannot list the staging folder {self.root} ({problem}); {what_to_do}") from exc

    def _is_inside(self, folder: UPath) -> bool:
        # through a link that leads out of staging, any file of this machine could be published
        if not isinstance(folder, Path) or not folder.is_symlink():
            return True
        try:
            return folder.resolve().is_relative_to(Path(self.root).resolve())
        except RuntimeError:
            return False  # the link leads in a circle

    def _may_be_looked_into(self, name: str, pages: Set[str], refused: dict[str, str], *, is_link: bool) -> bool:
        """Whether a folder may be an article, or where pages lie loose a part of them, which may have any name."""
        if not pages or is_link:
            return self._accept(name, refused, is_link=is_link)
        return not (name.startswith(".") or is_junk_folder(name))

    def _accept(self, name: str, refused: dict[str, str], *, is_link: bool) -> bool:
        if name.startswith(".") or is_junk_folder(name):
            return False
        try:
            check_article_id(name)
        except InvalidArticleIdError as exc:
            refused[_writable(name)] = str(exc)
            return False
        if is_link and not self._is_inside(self.root / name):
            refused[name] = f"{name} is a link that leads out of the staging folder; copy the folder instead"
            return False
        return True

    def names(self, article_id: str) -> frozenset[str] | None:
        """Return the names of an article's files, which are not opened; ``None`` if it is not staged.

        Raises:
            StorageError: the store cannot be reached.
        """
        facts = self._files(article_id)
        return None if facts is None else frozenset(file.name for file in [*facts, *self._parts(article_id)])

    def _parts(self, article_id: str) -> list[FileFacts]:
        """What a loose page may use besides its own files; nothing for other articles."""
        is_loose_page = is_page(article_id) and self._contents.is_loose(article_id)
        return self._scanned().parts if is_loose_page else []

    def _used(self, article_id: str) -> list[FileFacts]:
        """Those of its parts that a loose page names."""
        if not (parts := self._parts(article_id)):
            return []
        return parts_named(self._contents.current(article_id, article_id, most=_SEARCHED), parts)

    def inventory(self, article_id: str) -> StagedArticle:
        """Read and hash every file of an article.

        Raises:
            VanishedArticleError: its folder is not there.
            UnreadableArticleError: there is no main file, or several could be it.
            StorageError: a file cannot be read.
        """
        facts = self._files(article_id)
        where = self.root / article_id
        if facts is None:
            kind = "file" if self._contents.is_loose(article_id) else "folder"
            raise VanishedArticleError(f"{article_id}: there is no {kind} {where}; was the article deleted or renamed?")
        self._check_loose_metadata(article_id, facts)
        facts += self._used(article_id)
        files = sorted(self._contents.hashed(article_id, facts), key=lambda file: file.name)
        names = {file.name: file for file in files}
        self._check_metadata_file(article_id, names.keys())
        try:
            main = self.main_file(article_id, names)
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc} ({where})") from exc
        return StagedArticle(article_id=article_id, files=tuple(files), content_hash=content_hash(files), main=main)

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        """Read one file of an article, as :meth:`inventory` read it.

        Raises:
            StorageError: it cannot be read, or has changed since.
        """
        return self._contents.read(check_article_id(article_id), name, expected_sha256)

    def path(self, article_id: str, name: str) -> UPath:
        """Where a file of an article lies.

        Raises:
            StorageError: the store cannot be reached.
        """
        return self.root / self._contents.path(article_id, name)

    def metadata(self, article_id: str, *, absent: bytes | None = b"{}") -> bytes | None:
        """Read the article's :attr:`metadata_file`; ``absent`` if it has none, ``None`` if there is no such article.

        Raises:
            UnreadableArticleError: the file cannot be read, or its name is misspelt.
            StorageError: the store cannot be reached.
        """
        facts = self._files(article_id) or []
        names = {file.name for file in facts}
        if not names:
            return None
        self._check_loose_metadata(article_id, facts)
        self._check_metadata_file(article_id, names)
        if self.metadata_file not in names:
            return absent if self.may_be_article(names) else None
        try:
            return self._contents.current(article_id, self.metadata_file, most=LARGEST_METADATA + 1)
        except StorageError as exc:
            if isinstance(exc.__cause__, OSError) and exc.__cause__.errno in _ITS_OWN:
                raise UnreadableArticleError(str(exc)) from exc
            raise

    def _check_metadata_file(self, article_id: str, names: Set[str]) -> None:
        """Refuse a metadata file that would be ignored, because it may restrict who reads the article."""
        if self._contents.is_loose(article_id):
            return
        folder = self.root / article_id
        # links and folders, which only a disk has, are not among the names
        all_names = {entry.name for entry in Path(folder).iterdir()} if isinstance(folder, Path) else names
        for name in all_names:
            if self._would_be_ignored(name, names):
                raise UnreadableArticleError(
                    f"{article_id}: {_writable(name)} is a link or is not spelt {self.metadata_file}; "
                    "it may restrict who reads the article, so nobody can until it is renamed or replaced"
                )

    def _would_be_ignored(self, name: str, names: Set[str]) -> bool:
        """Whether something in the folder of an article with files of these names is meant as metadata, and is none."""
        is_other_spelling = name.casefold() == self.metadata_file and name not in names & {self.metadata_file}
        is_misspelt = "/" not in name and self.may_be_misspelt(name, names)
        return is_other_spelling or (is_misspelt and not name.startswith(".") and not name.endswith("~"))

    def _check_loose_metadata(self, article_id: str, facts: Iterable[FileFacts]) -> None:
        """Refuse a file that may be meant as the metadata of a loose article, and would be ignored."""
        if not self._contents.is_loose(article_id):
            return
        for file in facts:
            if file.name.startswith(BESIDE):
                expected = staged_path(article_id, METADATA_FILE)
                raise UnreadableArticleError(
                    f"{article_id}: {_writable(file.name.removeprefix(BESIDE))} beside it is not spelt {expected}; "
                    "it may restrict who reads the article, so nobody can until it is renamed or moved away"
                )


def content_hash(files: Iterable[StagedFile]) -> str:
    """Hash of the names and hashes of an article's files, in order of name; all layers depend on it."""
    return fingerprint([(file.name, file.sha256) for file in files])


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as exc:
        if exc.errno not in _ITS_OWN:
            raise
        return True  # a link whose target cannot be read is reported like a folder that cannot be read


def _writable(name: str) -> str:
    """The name with invalid Unicode escaped, so that it can be written to any file."""
    return name.encode(errors="backslashreplace").decode()


@contextmanager
def _translated_errors(root: UPath, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        problem = exc.strerror or exc
        raise StorageError(f"cannot read {root}/{path} ({problem}); check the staging folder's permissions") from exc
