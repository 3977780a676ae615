"""A staging folder of serving articles that another program made: ``<article-id>/article.md``, images, a manifest.

It is read like every staging folder: listed, watched, hashed, and never written. Only the main file and the file that
says who may read an article have other names.
"""

from collections.abc import Collection, Mapping, Set
from typing import ClassVar

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import StagedFile
from kb_pipeline.steps.metadata import may_be_metadata_file
from kb_pipeline.steps.serving_contract import MAIN_FILE, MANIFEST_FILE
from kb_pipeline.store.staging import Staging


class StagedServing(Staging):
    """A folder in the form of the serving layer, local or remote."""

    metadata_file: ClassVar[str] = MANIFEST_FILE
    has_loose: ClassVar[bool] = False
    made_elsewhere: ClassVar[bool] = True

    def may_be_article(self, names: Collection[str]) -> bool:
        return MAIN_FILE in names

    def main_file(self, article_id: str, files: Mapping[str, StagedFile] | Set[str]) -> str:
        if MAIN_FILE not in files:
            raise UnreadableArticleError(f"there is no {MAIN_FILE}; a serving article is {MAIN_FILE} and images/")
        return MAIN_FILE

    def may_be_misspelt(self, name: str, names: Set[str]) -> bool:
        # only the manifest is read, so a list of readers in metadata.json would be ignored
        return may_be_metadata_file(name)
