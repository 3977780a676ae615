"""The authors' staging folder, and beside it folders of articles that commands made of other files.

An author's article hides one beside it that has the same id.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from upath import UPath

from kb_pipeline.records import StagedArticle
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.staging import Staging, StagingListing, StagingScan


class JoinedStaging(Staging):
    """Reads both as one folder; :attr:`root` is that of the authors."""

    def __init__(self, root: UPath, beside: Callable[[], Iterable[Path]]) -> None:
        """``beside`` lists the local folders beside it; it is asked again each time, as they come and go."""
        super().__init__(root)
        self._beside = beside
        self._known: dict[Path, Staging] = {}

    def list_articles(self, *, look_inside: bool = False) -> StagingListing:
        listing = super().list_articles(look_inside=look_inside)
        ids, refused = dict.fromkeys(listing.article_ids), dict(listing.refused)
        for other in self._others():
            listed = other.list_articles()
            ids |= dict.fromkeys(listed.article_ids)
            refused = listed.refused | refused
        return StagingListing(tuple(sorted(ids)), refused)

    def scan(self) -> StagingScan:
        scan = super().scan()
        beside: set[str] = set()
        for other in self._others():
            scanned = other.scan()
            beside |= scanned.signatures.keys() - scan.signatures.keys()
            scan = StagingScan(
                scanned.signatures | scan.signatures, scanned.newest | scan.newest, scanned.refused | scan.refused
            )
        return replace(scan, beside=frozenset(beside))

    def signature(self, article_id: str) -> str:
        other = self._other(article_id)
        return other.signature(article_id) if other else super().signature(article_id)

    def names(self, article_id: str) -> frozenset[str] | None:
        other = self._other(article_id)
        return other.names(article_id) if other else super().names(article_id)

    def inventory(self, article_id: str) -> StagedArticle:
        other = self._other(article_id)
        return other.inventory(article_id) if other else super().inventory(article_id)

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        other = self._other(article_id)
        return (other.read if other else super().read)(article_id, name, expected_sha256)

    def path(self, article_id: str, name: str) -> UPath:
        other = self._other(article_id)
        return (other.path if other else super().path)(article_id, name)

    def metadata(self, article_id: str, *, absent: bytes | None = b"{}") -> bytes | None:
        other = self._other(article_id)
        return (other.metadata if other else super().metadata)(article_id, absent=absent)

    def _others(self) -> Iterator[Staging]:
        for folder in self._beside():
            if folder not in self._known:
                self._known[folder] = Staging(UPath(folder))
            yield self._known[folder]

    def _other(self, article_id: str) -> Staging | None:
        """The folder beside the authors' that has this article, if theirs has it not."""
        if not is_article_id(article_id):
            return None
        for other in self._others():
            if Path(f"{other.root}/{article_id}").is_dir() and super().names(article_id) is None:
                return other
        return None
