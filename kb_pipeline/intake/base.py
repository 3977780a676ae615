"""What a source of articles is: it lists items, and fetches one. All sources share what :mod:`.running` does."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.naming import name_of_site
from kb_pipeline.intake.shared_readers import Names
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings

ArticleOf = Callable[[str], str | None]
"""The id of the article that an item is or becomes; ``None`` if no such item was listed."""


NOT_THERE = ""
"""The version of a part that is missing."""


class Item(Record):
    """Something that becomes an article.

    Attributes:
        id: names it in its source, for ever.
        version: another one as soon as the item itself may have changed.
        name: what the id of its article is made of, if its own id tells people nothing.
        title: overrides the one in its file, if the source knows it better.
        link: where people find the original (https://...).
        author: who changed it last, if the source knows.
        date: when it was last changed, as ISO 8601, if the source knows.
        topics: its labels.
        readers: users and groups that may read it, empty: everybody; ``None``: that cannot be read, so nobody may.
    """

    id: str
    version: str
    name: str = ""
    title: str = ""
    link: str = ""
    author: str = ""
    date: str = ""
    topics: tuple[str, ...] = ()
    readers: tuple[str, ...] | None = ()


class Refused(Record):
    """An item that cannot be listed; with "/" at its end, all below it. What was made of them stays as it is."""

    id: str
    reason: str


class Unused(Record):
    """A file that becomes no article; it is told to people if no article shows it either."""

    id: str
    reason: str


@dataclass(frozen=True)
class Fetched:
    """The files of an article by name, each as its content or as a file to copy.

    ``parts`` are the other things of the source that it was made of (its pictures), with their versions, and those that
    it misses, as :data:`NOT_THERE`. ``link`` is where the original is, if only the item itself says so.
    ``folder`` holds files that were fetched only to be copied: it is removed then.
    """

    main: str
    files: Mapping[str, bytes | Path]
    parts: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    folder: Path | None = None


@dataclass(frozen=True)
class LeftOut:
    """An item that is no article, such as an index of others.

    ``for_now``: each run asks for it again, as it may be one without another version: whom the source denies it today
    may read it tomorrow.
    """

    reason: str
    for_now: bool = False


class Options(BaseModel):
    """What is declared of a source; each kind adds its own, and its docstring is what ``kb intake add`` says of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    readers: Names = Field((), description="Users and groups that may read its articles.")
    schedule: str = Field("30 1 * * *", description="When Dagster takes it in, as cron; empty: only on request.")
    include: tuple[str, ...] = Field((), description="Only what has a path or title like one of these (guide/*).")
    exclude: tuple[str, ...] = Field((), description="Nothing that has a path or title like one of these.")

    @classmethod
    def name_for(cls, given: Mapping[str, object]) -> str:
        """A name for a source of which this is given."""
        return name_of_site(str(given["url"]))

    def includes(self, name: str) -> bool:
        """Whether a path or title is one of those that are asked for, or all are."""
        return not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)

    def excludes(self, name: str) -> bool:
        """Whether a path or title is to be left out."""
        return any(fnmatchcase(name, pattern) for pattern in self.exclude)

    def chooses(self, name: str) -> bool:
        """Whether a path or title is to be taken in."""
        return self.includes(name) and not self.excludes(name)


def password_of(settings: Settings, source: str, user: str, called: str) -> str:
    """The password of a source's user, "" if it has neither; ``called`` is what people call it.

    Raises:
        IntakeError: a user is declared, and no password is set.
    """
    password = settings.intake_password(source)
    if user and not password:
        raise IntakeError(f'no {called} of {user} is set: KB_INTAKE_PASSWORDS=\'{{"{source}": "..."}}\'')
    return password


class IntakeSource(ABC):
    """One source of articles.

    ``made_by`` names the code and the options that decide what an item becomes; all are fetched again when it changes.
    """

    at_once: ClassVar[int] = 4
    """Items that are fetched at the same time."""

    def __init__(self, name: str, made_by: str) -> None:
        self.name, self.made_by = name, made_by

    def prepare(self, progress: Callable[[int], None] | None = None) -> None:  # noqa: B027  (most have nothing to do)
        """Do what takes long before listing, such as copying a site, while other sources may be taken in.

        Raises:
            IntakeError, TransientError: as :meth:`items`.
        """

    @abstractmethod
    def items(self) -> Iterator[Item | Refused | Unused]:
        """List all items, without fetching them.

        Raises:
            IntakeError: the source is not there or cannot be listed to its end. Then nothing is changed.
            TransientError: it cannot be reached now.
        """

    @abstractmethod
    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        """Fetch an item; links to other items lead to their articles, ``../<article-id>/<main file>``.

        Several threads call it.

        Raises:
            KnowledgeBaseError: this item cannot be used. What was made of it before stays.
            TransientError: another try may work.
        """

    def versions(self, parts: Iterable[str]) -> Mapping[str, str]:
        """The versions of these parts of articles now."""
        return dict.fromkeys(parts, NOT_THERE)
