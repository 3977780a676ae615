"""A tree of pages, and the source that reads it: as a folder, as a ZIP, in a repository."""

import re
import subprocess
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from pydantic import SecretStr

from kb_pipeline.intake.base import IntakeSource
from kb_pipeline.intake.confluence.source import ConfluenceOptions, ConfluenceSource
from kb_pipeline.intake.folder import FolderOptions, FolderSource
from kb_pipeline.intake.git import GitOptions, GitSource
from kb_pipeline.intake.mail.source import MailboxSource, MailOptions
from kb_pipeline.intake.mediawiki.source import MediaWikiOptions, MediaWikiSource
from kb_pipeline.intake.sharepoint.source import SharePointOptions, SharePointSource
from kb_pipeline.intake.zendesk import ZendeskOptions, ZendeskSource
from kb_pipeline.settings import Settings
from kb_pipeline_tests.confluence_service import Confluence
from kb_pipeline_tests.dovecot import PASSWORD, USER, Dovecot
from kb_pipeline_tests.graph_service import SharePoint
from kb_pipeline_tests.mediawiki import Wiki, installed, make_wiki
from kb_pipeline_tests.zendesk_service import HelpCenter

NOWHERE = "http://127.0.0.1:1"
"""Where no server is."""
PROSE = "Open the valve slowly, and wait until the gauge shows three bars before you go on."
Put = Callable[[str, str | bytes], None]


def page(body: str = f"<p>{PROSE}</p>", title: str = "A page") -> str:
    """A page with an article."""
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


class FolderTree:
    """A folder that a test changes."""

    has_links = True

    def __init__(self, root: Path) -> None:
        self.root = root / "manual"
        self.root.mkdir()
        self.path = self.root

    def put(self, name: str, data: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def remove(self, name: str) -> None:
        (self.root / name).unlink()

    def vanish(self) -> None:
        """Let the whole source be gone: its disk is not mounted, its server is down."""
        self.root.rename(self.root.with_name("elsewhere"))

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        return FolderSource("manual", FolderOptions.model_validate({"path": self.path, **options}), settings)


class ZipTree(FolderTree):
    """The same in a ZIP."""

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        self.path = self.root.with_suffix(".zip")
        if not self.root.exists():
            self.path.unlink()
            return super().source(settings, **options)
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(self.root.rglob("*")):
                archive.write(path, path.relative_to(self.root))
        return super().source(settings, **options)


class GitTree(FolderTree):
    """The same in a repository."""

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        def git(*arguments: str) -> None:
            who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
            subprocess.run(["git", "-C", str(self.root), *who, *arguments], check=True)

        if self.root.exists():
            git("init", "--quiet")
            git("add", "-A")
            git("commit", "--quiet", "--allow-empty", "-m", "docs")
        given = {"repository": str(self.root), **options}
        return GitSource("manual", GitOptions.model_validate(given), settings)


class MailFolder(FolderTree):
    """The same as messages, which do not lead to each other."""

    has_links = False

    def put(self, name: str, data: str | bytes) -> None:
        assert isinstance(data, str)
        message = EmailMessage()
        message["Subject"] = name.removesuffix(".html")
        message["Message-ID"] = f"<{name}@example.org>"
        message.set_content(data, subtype="html")
        super().put(f"{name}.eml", message.as_bytes())

    def remove(self, name: str) -> None:
        super().remove(f"{name}.eml")

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        return MailboxSource("manual", MailOptions.model_validate({"path": self.path, **options}), settings)


class ImapMailbox(MailFolder):
    """The same messages on a server."""

    def __init__(self, folder: Path, server: Dovecot) -> None:
        super().__init__(folder)
        self._server, self._address = server, server.address

    def put(self, name: str, data: str | bytes) -> None:
        self._server.remove(f"<{name}@example.org>")
        super().put(name, data)
        self._server.put((self.root / f"{name}.eml").read_bytes())

    def remove(self, name: str) -> None:
        super().remove(name)
        self._server.remove(f"<{name}@example.org>")

    def vanish(self) -> None:
        self._address = NOWHERE.removeprefix("http://")

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        signed_in = settings.model_copy(update={"intake_passwords": SecretStr(f'{{"manual": "{PASSWORD}"}}')})
        given = {"server": self._address, "user": USER, **options}
        return MailboxSource("manual", MailOptions.model_validate(given), signed_in)


class WikiTree(FolderTree):
    """The same as pages of a wiki."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki

    def put(self, name: str, data: str | bytes) -> None:
        assert isinstance(data, str)
        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', lambda link: f"[[{self._title(link[1])}|{link[2]}]]", data)
        self._wiki.put(self._title(name), re.sub(r"</?(html|head|title|body|h1)>", " ", body))

    def remove(self, name: str) -> None:
        self._wiki.remove(self._title(name))

    def vanish(self) -> None:
        self._wiki.url = NOWHERE

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        given = {"url": f"{self._wiki.url}/api.php", "exclude": ["Main Page"], **options}
        return MediaWikiSource("manual", MediaWikiOptions.model_validate(given), settings)

    @staticmethod
    def _title(address: str) -> str:
        return address.replace(".html", "")


class ConfluenceTree(FolderTree):
    """The same as public pages of a Confluence."""

    def __init__(self, site: Confluence) -> None:
        self._site, self._ids = site, {"more/next.html": "1", "start.html": "2"}  # links are written by these ids
        site.needs_token = False

    def put(self, name: str, data: str | bytes) -> None:
        assert isinstance(data, str)
        body = data.replace('href="more/next.html', 'href="/wiki/spaces/DOC/pages/1/Next')
        title = name.removesuffix(".html")
        own = self._ids.setdefault(name, f"{len(self._ids) + 1}")
        self._site.put(own, title, re.sub(r"</?(html|head|title|body|h1)>", " ", body))

    def remove(self, name: str) -> None:
        self._site.remove(self._ids[name])

    def vanish(self) -> None:
        self._site.url = NOWHERE

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        given = {"url": self._site.url, **options}
        return ConfluenceSource("manual", ConfluenceOptions.model_validate(given), settings)


class ZendeskTree(FolderTree):
    """The same as public articles of a help center."""

    def __init__(self, center: HelpCenter) -> None:
        self._center, self._ids = center, {"more/next.html": 1, "start.html": 2}  # links are written by these ids

    def put(self, name: str, data: str | bytes) -> None:
        assert isinstance(data, str)
        body = data.replace('href="more/next.html', 'href="/hc/en-us/articles/1-Next')
        own = self._ids.setdefault(name, len(self._ids) + 1)
        self._center.put(own, name.removesuffix(".html"), re.sub(r"</?(html|head|title|body|h1)>", " ", body))

    def remove(self, name: str) -> None:
        del self._center.articles[self._ids[name]]

    def vanish(self) -> None:
        self._center.url = NOWHERE

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        given = {"url": self._center.url, **options}
        return ZendeskSource("manual", ZendeskOptions.model_validate(given), settings)


class SharePointTree(FolderTree):
    """The same as pages in a library."""

    def __init__(self, site: SharePoint) -> None:
        self._site = site

    def put(self, name: str, data: str | bytes) -> None:
        assert isinstance(data, str)
        self._site.put(name, data.encode())

    def remove(self, name: str) -> None:
        self._site.remove("docs", f"docs-{name.replace('/', '-')}")

    def vanish(self) -> None:
        self._site.shown_as = self._site.url = NOWHERE

    def source(self, settings: Settings, **options: object) -> IntakeSource:
        given = {"url": self._site.site, "graph": self._site.url, **options}
        return SharePointSource("manual", SharePointOptions.model_validate(given), settings)


@pytest.fixture(scope="session")
def empty_wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if installed() is None:
        pytest.skip("there is no MediaWiki; scripts/mediawiki.sh gets it")
    folder = tmp_path_factory.mktemp("wiki") / "empty"
    make_wiki(folder)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> FolderTree:
    return FolderTree(tmp_path)


@pytest.fixture
def staging(settings: Settings) -> Path:
    return Path(settings.staging)
