"""The source ``mail``: a folder of messages. Each thread becomes an article, and each document that is attached.

A mailbox is nobody else's business: articles of it are hidden from everybody until the declaration names readers.
"""

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from pydantic import Field, ValidationInfo, field_validator

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused
from kb_pipeline.intake.mail.folder import Letter, letters_in
from kb_pipeline.intake.mail.message import AttachedFile, read_message
from kb_pipeline.intake.mail.text import PlainBody, RichBody, Said, repeated
from kb_pipeline.intake.mail.threads import Thread, threads_of
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.images import Stems
from kb_pipeline.steps.main_file import INDEX_FILE, is_document

_MOST_LETTERS = 1000
"""Messages of a thread: nobody reads more, and reports of machines have thousands."""
_ADDRESS = re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_MASKED = "***"


class MailOptions(Options):
    """What ``intake.yaml`` says of a folder of mail."""

    kind: Literal["mail"] = "mail"
    path: Path = Field(description="A folder of .eml, mbox or Maildir, or one mbox, seen from the file that declares.")
    mask: bool = Field(False, description="Replace addresses of mail by ***, in the text of messages and in titles.")
    attachments: bool = Field(True, description="Take in attached documents, each as an article.")

    @field_validator("path")
    @classmethod
    def _is_absolute(cls, value: Path, info: ValidationInfo) -> Path:
        declared_in = (info.context or {}).get("folder", Path())  # runs may start in another folder
        return Path(declared_in, value.expanduser()).absolute()


class MailFolderSource(IntakeSource):
    """A folder of mail."""

    def __init__(self, name: str, options: MailOptions, settings: Settings) -> None:
        super().__init__(name, f"mail-1 {fingerprint(options.mask)[:12]}")
        self._options, self._largest = options, settings.document_bytes
        if not options.path.exists():
            raise IntakeError(f"there is no folder and no file {options.path}; is its disk mounted, was it moved?")
        self._threads: dict[str, Thread] = {}
        self._attached: dict[str, tuple[Letter, AttachedFile]] = {}
        self._masked: Callable[[str], str] = _mask if options.mask else lambda text: text

    def items(self) -> Iterator[Item | Refused]:
        chosen = (letter for name, letter in letters_in(self._options.path) if self._options.chooses(name))
        for thread in threads_of(chosen):
            self._threads[thread.id] = thread
            yield self._item(thread, id=thread.id, version=fingerprint(*(each.version for each in thread.letters)),
                             title=self._masked(thread.subject))  # fmt: skip
            for letter in thread.letters if self._options.attachments else ():
                yield from self._attachments(thread, letter)

    def _item(self, thread: Thread, *, id: str, version: str, title: str) -> Item:
        last = thread.letters[-1]
        return Item(
            id=id,
            version=version,
            name=title or "mail",
            title=title,
            author=self._masked(_person(thread.letters[0].sender)),
            date=last.date.isoformat() if last.date.year > 1970 else "",
            readers=self._options.readers or None,
        )

    def _attachments(self, thread: Thread, letter: Letter) -> Iterator[Item]:
        """The documents that come with a message, each once in its thread."""
        if not letter.may_have_files or letter.size > self._largest:
            return
        try:
            files = read_message(letter.read()).files
        except IntakeError:  # fetching its thread says what is wrong
            return
        for attached in files:
            own = _id_of(thread, attached)
            if is_document(attached.name) and own not in self._attached:
                self._attached[own] = letter, attached.without_data()
                yield self._item(thread, id=own, version=attached.digest, title=self._masked(attached.title))

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        if found := self._attached.get(item.id):
            letter, wanted = found
            files = {each.digest: each for each in read_message(letter.read()).files}
            if wanted.digest not in files:
                raise IntakeError(f"{letter.path} does not hold {wanted.name} any more")
            return Fetched(wanted.file, {wanted.file: files[wanted.digest].data})
        thread = self._threads[item.id]
        if len(thread.letters) > _MOST_LETTERS:
            raise IntakeError(f"{thread.subject[:80]!r} has more than {_MOST_LETTERS:,} messages; exclude them")
        if large := next((letter for letter in thread.letters if letter.size > self._largest), None):
            raise IntakeError(f"a message in {large.path} has {large.size:,} bytes; raise KB_DOCUMENT_BYTES")
        return self._page(thread, item, article_of)

    def _page(self, thread: Thread, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        said, shown, parts = Said(), _Shown(), []
        for letter in thread.letters:
            part = self._part(thread, letter, said, shown, article_of)
            if part:
                parts.append(f"<h2>{html.escape(_heading(thread, letter))}</h2>\n{part}")
        if not parts:
            return LeftOut("it has no text and no picture")
        title = html.escape(item.title or "Mail")
        text = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body><main>\n'
        text += self._masked(f"<h1>{title}</h1>\n" + "\n".join(parts)) + "\n</main></body></html>\n"
        return Fetched(INDEX_FILE, {INDEX_FILE: text.encode("utf-8", "replace"), **shown.files})

    def _part(self, thread: Thread, letter: Letter, said: Said, shown: "_Shown", article_of: ArticleOf) -> str:
        """What a message adds to its thread, as HTML; "" if that is nothing."""
        message = read_message(letter.read())
        digests = {each.address: each.digest for each in message.pictures}
        parts: list[str] = []
        for is_html, text in message.bodies:
            body = RichBody(text, lambda address: digests.get(address, "")) if is_html else PlainBody(text)
            is_repeated = repeated(body.blocks, said)
            said.add(body.blocks, letter.sender)
            if not all(is_repeated):
                parts.append(body.html(is_repeated))
        by_address = {each.address: each for each in message.pictures}
        page = rewrite_page(
            "\n".join(parts),
            lambda address: "#" if self._options.mask and address.startswith("mailto:") else None,
            lambda address: shown.place(by_address[address]) if address in by_address else None,
        )
        attached = [each for each in message.pictures if each.is_attached and not shown.has(each)]
        page += "".join(
            f'\n<p><img src="{shown.place(each)}" alt="{html.escape(each.title)}"></p>' for each in attached
        )
        names = [self._named(thread, each, article_of) for each in message.files]
        return page + (f"\n<ul>{''.join(f'<li>{name}</li>' for name in names)}</ul>" if names else "")

    def _named(self, thread: Thread, attached: AttachedFile, article_of: ArticleOf) -> str:
        name, article_id = html.escape(attached.name), article_of(_id_of(thread, attached))
        return f'<a href="../{quote(article_id)}/{quote(attached.file)}">{name}</a>' if article_id else name


class _Shown:
    """The pictures of a thread, each once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | Path] = {}
        self._placed: dict[str, str] = {}
        self._stems = Stems()

    def has(self, picture: AttachedFile) -> bool:
        return picture.digest in self._placed

    def place(self, picture: AttachedFile) -> str:
        """The address of a picture in the page."""
        if picture.digest not in self._placed:
            file = f"{self._stems.take(picture.name)}{picture.ending}"
            self.files[file] = picture.data
            self._placed[picture.digest] = quote(file)
        return self._placed[picture.digest]


def _id_of(thread: Thread, attached: AttachedFile) -> str:
    return f"{thread.id} {attached.digest} {attached.name}"


def _heading(thread: Thread, letter: Letter) -> str:
    when = f"{letter.date:%Y-%m-%d %H:%M} UTC" if letter.date.year > 1970 else ""
    return ", ".join(filter(None, (_person(letter.sender), when))) or thread.subject


def _person(sender: str) -> str:
    name, _, address = sender.partition("<")
    return name.strip(" \"'") or address.strip("<> ")


def _mask(text: str) -> str:
    return _ADDRESS.sub(_MASKED, text)
