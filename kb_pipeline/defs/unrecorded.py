"""Articles that a run has taken on and not written into Dagster's history yet: an empty file for each.

An article can be published by a run that is killed before Dagster is told. Its state then says that all is done, while
the UI would go on showing what was before. What is marked here after its run has ended is requested again, and recorded
without being made again.
"""

from collections.abc import Iterable

from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.storage import names_in


class Unrecorded:
    """The marks, in ``<home>/unrecorded``."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.home_path / "unrecorded"

    def add(self, article_ids: Iterable[str]) -> None:
        """Mark articles before anything is done to them.

        Raises:
            StorageError: the home folder cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for article_id in filter(is_article_id, article_ids):
                (self._folder / article_id).touch()
        except OSError as exc:
            raise StorageError(f"cannot write {self._folder} ({exc.strerror}); check KB_HOME and its disk") from exc

    def remove(self, article_ids: Iterable[str]) -> None:
        """Take the marks away, because the history knows the articles, or because they are gone."""
        for article_id in filter(is_article_id, article_ids):
            (self._folder / article_id).unlink(missing_ok=True)

    def all(self) -> set[str]:
        """The marked articles."""
        return names_in(UPath(self._folder))
