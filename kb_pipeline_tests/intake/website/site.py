"""A web server on loopback whose pages a test puts, changes and breaks."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import NamedTuple

from kb_pipeline.intake.folder import TreeSource
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.intake.website.source import WebsiteSource
from kb_pipeline.settings import Settings

TYPES = {".html": "text/html; charset=utf-8", ".png": "image/png", ".pdf": "application/pdf", ".xml": "text/xml"}


class Answer(NamedTuple):
    """What the server answers; ``length`` is what it says of its length, when that is not true."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})
    length: int | None = None


class Site:
    """Pages by path. ``answers`` are given instead of pages, once each if they are lists."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.answers: dict[str, Callable[[], Answer]] = {}
        self.asked: list[tuple[str, int]] = []
        self.has_tokens, self.salt = True, ""
        self.not_here = Answer(404, b"not here", {"content-type": "text/html"})
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = site.answer(self.path, self.headers.get("if-none-match"))
                site.asked.append((self.path, answer.status))
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body) if answer.length is None else answer.length))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, path: str, known: str | None) -> Answer:
        if path in self.answers:
            return self.answers[path]()
        found = self.pages.get(path)
        if found is None:
            return self.not_here
        if found.status != 200 or not self.has_tokens:
            return found
        token = found.headers.get("etag") or f'"{hashlib.sha256(found.body + self.salt.encode()).hexdigest()[:16]}"'
        headers = {"etag": token, **found.headers}
        return Answer(304, b"", headers) if known == token else found._replace(headers=headers)

    def put(self, path: str, data: str | bytes, content_type: str = "", **headers: str) -> None:
        """Put a page or file at a path."""
        body = data if isinstance(data, bytes) else data.encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        ending = TYPES.get(Path(path.partition("?")[0]).suffix, "text/html; charset=utf-8")
        self.pages[path] = Answer(200, body, {"content-type": content_type or ending, **given})

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        """Let a path lead elsewhere."""
        self.pages[path] = Answer(status, b"", {"location": target})

    def source(self, settings: Settings, name: str = "site", start: str = "", **options: object) -> WebsiteSource:
        """The source that reads this site."""
        given = {"url": self.url + start, "allow_private": True, "rate": 10_000, **options}
        return WebsiteSource(name, WebsiteOptions.model_validate(given), settings)

    def counts(self) -> Counter[int]:
        """How often each status was answered since the last call."""
        counts = Counter(status for path, status in self.asked if path in self.pages and "sitemap" not in path)
        self.asked.clear()
        return counts

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class SiteTree:
    """The site as a tree that the contract of all sources fills."""

    has_links = True

    def __init__(self, _: Path) -> None:
        self.site = Site()

    def put(self, name: str, data: str | bytes) -> None:
        self.site.put(f"/{name}", data)

    def remove(self, name: str) -> None:
        del self.site.pages[f"/{name}"]

    def vanish(self) -> None:
        self.site.close()

    def source(self, settings: Settings, **options: object) -> TreeSource | WebsiteSource:
        return self.site.source(settings, "manual", "start.html", **options)
