"""The source ``mail``: messages in a folder or on a server. Threads become articles, and so do attached documents.

A mailbox is nobody else's business: articles of it are hidden from everybody until the declaration names readers.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

from pydantic import Field, ValidationInfo, field_validator, model_validator

from kb_pipeline.errors import IntakeError, UnreadableArticleError
from kb_pipeline.intake.base import ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused, password_of
from kb_pipeline.intake.mail.folder import Letter, letters_in
from kb_pipeline.intake.mail.habits import Habits
from kb_pipeline.intake.mail.imap import ImapServer, copy_folders
from kb_pipeline.intake.mail.quotations import Said, repeated
from kb_pipeline.intake.mail.threads import Thread, threads_of
from kb_pipeline.intake.naming import name_of, name_of_site
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.pasted import ASKS, sentences_of
from kb_pipeline.services.service import Service
from kb_pipeline.settings import Settings
from kb_pipeline.sources.mail.message import Mail, MailAttachment, read_mail
from kb_pipeline.sources.mail.text import MailBlock, PlainBody, RichBody, framing, names_in
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.images import Stems
from kb_pipeline.steps.main_file import INDEX_FILE, is_document

_MOST_LETTERS = 1000
"""Messages of a thread: nobody reads more, and reports of machines have thousands."""
_LONGEST_QUESTION = 150
"""Characters of a question that becomes a heading."""
_ADDRESS = re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_MASKED = "***"
_IMAPS = 993
_PERMISSION = "IMAP.AccessAsApp"
"""What an identity needs in Exchange Online, and that it may open the mailbox."""
_SERVER = re.compile(r"[\w.-]{1,253}(:\d{1,5})?")


class MailOptions(Options):
    """Take in mail: an article for each thread and each attached document; without readers, nobody reads them."""

    kind: Literal["mail"] = "mail"
    path: Path | None = Field(
        None, description="A folder of .eml, mbox or Maildir, or one mbox, seen from the file that declares."
    )
    server: str = Field("", description="An IMAP server instead of a path, with its port if that is not 993.")
    user: str = Field("", description="Who signs in to the server, or whose mailbox is read.")
    sign_in: Literal["password", "token", "azure"] = Field(
        "password",
        description="With what: a password or a token of OAuth in KB_INTAKE_PASSWORDS, or as this process is on Azure.",
    )
    folders: tuple[str, ...] = Field(("INBOX",), description="Folders of the server; * stands for any letters.")
    mask: bool = Field(False, description="Replace addresses of mail by ***, in the text of messages and in titles.")
    attachments: bool = Field(True, description="Take in attached documents, each as an article.")

    @field_validator("path")
    @classmethod
    def _is_absolute(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        declared_in = (info.context or {}).get("folder", Path())  # runs may start in another folder
        return None if value is None else Path(declared_in, value.expanduser()).absolute()

    @field_validator("server")
    @classmethod
    def _is_a_host(cls, value: str) -> str:
        if value and not (_SERVER.fullmatch(value) and _host_and_port(value)[1] < 1 << 16):
            raise ValueError("it is not the name of a server: imap.example.org, or imap.example.org:993")
        return value

    @classmethod
    def name_for(cls, given: Mapping[str, object]) -> str:
        return name_of(Path(str(given["path"]))) if given.get("path") else name_of_site(str(given["server"] or "mail"))

    @model_validator(mode="after")
    def _is_in_one_place(self) -> Self:
        if bool(self.path) == bool(self.server):
            raise ValueError("mail is in a path or on a server: one of them is needed")
        if bool(self.server) != bool(self.user):
            raise ValueError("a server needs a user, and only that")
        if self.sign_in != "password" and not self.server:
            raise ValueError("only a server is signed in to")
        return self


class MailboxSource(IntakeSource):
    """Mail in a folder; that of a server is copied into one."""

    def __init__(self, name: str, options: MailOptions, settings: Settings) -> None:
        super().__init__(name, f"mail-2 {fingerprint(options.mask)[:12]}")
        self._options, self._largest = options, settings.document_bytes
        if options.path and not options.path.exists():
            raise IntakeError(f"there is no folder and no file {options.path}; is its disk mounted, was it moved?")
        self._path = options.path or settings.home_path / "intake" / f"{name}.mail"
        self._secret = self._secret_of(settings)
        self._not_copied: dict[str, str] = {}
        self._threads: dict[str, Thread] = {}
        self._habits = Habits((), self._largest)
        self._attached: dict[str, tuple[Letter, MailAttachment, str]] = {}
        self._masked: Callable[[str], str] = _mask if options.mask else lambda text: text

    def prepare(self, progress: Callable[[int], None] | None = None) -> None:
        if not self._options.server:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        host, port = _host_and_port(self._options.server)
        is_token = self._options.sign_in != "password"
        with ImapServer(host, port, self._options.user, self._secret(), is_token=is_token) as server:
            self._not_copied = copy_folders(server, self._options.folders, self._path, self._largest, progress)

    def _secret_of(self, settings: Settings) -> Callable[[], str]:
        """A function that returns the password or token: one of Azure is asked for in each run."""
        host = _host_and_port(self._options.server)[0]
        if self._options.sign_in == "azure":
            service = Service("the mail of", host, "server in KB_INTAKE", "the AZURE_* variables", _PERMISSION)
            return service.tokens(f"https://{host}/.default")
        secret = password_of(settings, self.name, self._options.user, self._options.sign_in)
        return lambda: secret

    def items(self) -> Iterator[Item | Refused]:
        yield from (Refused(id=own, reason=reason) for own, reason in self._not_copied.items())
        chosen = (letter for name, letter in letters_in(self._path) if self._options.chooses(name))
        threads = threads_of(chosen)
        self._habits = Habits(threads, self._largest)
        for thread in threads:
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
            files = _files(read_mail(letter.read()))
        except (IntakeError, UnreadableArticleError):  # fetching its thread says what is wrong
            return
        for attached in files:
            own = _id_of(thread, attached)
            if is_document(attached.name) and own not in self._attached:
                self._attached[own] = letter, replace(attached, data=b""), attached.digest
                yield self._item(thread, id=own, version=attached.digest, title=self._masked(attached.title))

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        if found := self._attached.get(item.id):
            letter, wanted, digest = found
            files = {each.digest: each for each in _files(read_mail(letter.read()))}
            if digest not in files:
                raise IntakeError(f"{letter.path} does not hold {wanted.name} any more")
            return Fetched(wanted.file, {wanted.file: files[digest].data})
        thread = self._threads[item.id]
        if len(thread.letters) > _MOST_LETTERS:
            raise IntakeError(f"{thread.subject[:80]!r} has more than {_MOST_LETTERS:,} messages; exclude them")
        if large := next((letter for letter in thread.letters if letter.size > self._largest), None):
            raise IntakeError(f"a message in {large.path} has {large.size:,} bytes; raise KB_DOCUMENT_BYTES")
        return self._page(thread, item, article_of)

    def _page(self, thread: Thread, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        said, shown, parts = Said(), _Shown(), list[str]()
        named = {name for letter in thread.letters for name in (letter.sender, *letter.people)}
        people = {word for name in named for word in names_in(name)}
        for letter in thread.letters:
            part, asked = self._part(thread, letter, people, said, shown, article_of)
            if part or asked:
                parts.append(f"{_heading(thread, letter, asked, has_others=bool(parts))}\n{part}")
        if not parts:
            return LeftOut("it has no text and no picture")
        title = html.escape(item.title or "Mail")
        text = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body><main>\n'
        text += self._masked(f"<h1>{title}</h1>\n" + "\n".join(parts)) + "\n</main></body></html>\n"
        return Fetched(INDEX_FILE, {INDEX_FILE: text.encode("utf-8", "replace"), **shown.files})

    def _part(
        self, thread: Thread, letter: Letter, people: Set[str], said: Said, shown: "_Shown", article_of: ArticleOf
    ) -> tuple[str, str]:
        """What a message adds to its thread, as HTML, and what it asks; "" if that is nothing."""
        mail = read_mail(letter.read())
        pictures = [each for each in mail.attached if each.is_picture]
        by_address = {f"cid:{each.cid}": each for each in pictures if each.cid}
        own, usual = names_in(letter.sender), self._habits.of(letter.sender, thread)
        parts: list[str] = []
        asked = ""
        for is_html, text in mail.bodies:
            body = RichBody(text, lambda address: _digest(by_address.get(address))) if is_html else PlainBody(text)
            is_out = repeated(body.blocks, said)
            said.add(body.blocks, letter.sender)
            new = [at for at, is_known in enumerate(is_out) if not is_known]
            frames = framing([body.blocks[at] for at in new], own, people - own, usual)
            for at, is_frame in zip(new, frames, strict=True):
                is_out[at] = is_frame
            asked = asked or _question_in([block for block, out in zip(body.blocks, is_out, strict=True) if not out])
            is_out = [out or block.text.strip() == asked for block, out in zip(body.blocks, is_out, strict=True)]
            if not all(is_out):
                parts.append(body.html(is_out))
        page = rewrite_page(
            "\n".join(parts),
            lambda address: "#" if self._options.mask and address.startswith("mailto:") else None,
            lambda address: shown.place(by_address[address]) if address in by_address else None,
        )
        attached = [each for each in pictures if each.is_attached and not shown.has(each)]
        page += "".join(
            f'\n<p><img src="{shown.place(each)}" alt="{html.escape(each.title)}"></p>' for each in attached
        )
        names = [self._named(thread, each, article_of) for each in _files(mail)]
        page += f"\n<ul>{''.join(f'<li>{name}</li>' for name in names)}</ul>" if names else ""
        return page, asked

    def _named(self, thread: Thread, attached: MailAttachment, article_of: ArticleOf) -> str:
        name, article_id = html.escape(attached.name), article_of(_id_of(thread, attached))
        return f'<a href="../{quote(article_id)}/{quote(attached.file)}">{name}</a>' if article_id else name


class _Shown:
    """The pictures of a thread, each once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | Path] = {}
        self._placed: dict[str, str] = {}
        self._stems = Stems()

    def has(self, picture: MailAttachment) -> bool:
        return picture.digest in self._placed

    def place(self, picture: MailAttachment) -> str:
        """The address of a picture in the page."""
        if picture.digest not in self._placed:
            file = f"{self._stems.take(picture.name)}{picture.ending}"
            self.files[file] = picture.data
            self._placed[picture.digest] = quote(file)
        return self._placed[picture.digest]


def _host_and_port(server: str) -> tuple[str, int]:
    host, _, port = server.partition(":")
    return host, int(port or _IMAPS)


def _id_of(thread: Thread, attached: MailAttachment) -> str:
    return f"{thread.id} {attached.digest} {attached.name}"


def _files(mail: Mail) -> list[MailAttachment]:
    return [each for each in mail.attached if not each.is_picture]


def _question_in(blocks: Sequence[MailBlock]) -> str:
    """The longest question that somebody asks in own words, if it can be a heading."""
    sentences = (each for block in blocks if not block.is_marked for each in sentences_of(block.text))
    questions = [each for each in sentences if each.endswith(ASKS) and len(each) <= _LONGEST_QUESTION]
    return max(questions, key=len, default="")


def _digest(picture: MailAttachment | None) -> str:
    return picture.digest if picture else ""


def _heading(thread: Thread, letter: Letter, asked: str, *, has_others: bool) -> str:
    """Who wrote when. What others write stands below what the one who began the thread asked last.

    So the search knows what they answer, and readers see it.
    """
    when = f"{letter.date:%Y-%m-%d %H:%M} UTC" if letter.date.year > 1970 else ""
    written = ", ".join(filter(None, (_person(letter.sender), when))) or thread.subject
    is_answer = has_others and letter.sender != thread.letters[0].sender
    if is_answer or not asked:
        level = "h3" if is_answer else "h2"
        return f"<{level}>{html.escape(written)}</{level}>"
    return f"<h2>{html.escape(f'{asked[0].upper()}{asked[1:]} ({written})')}</h2>"


def _person(sender: str) -> str:
    name, _, address = sender.partition("<")
    return name.strip(" \"'") or address.strip("<> ")


def _mask(text: str) -> str:
    return _ADDRESS.sub(_MASKED, text)
