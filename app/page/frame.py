"""What browsers get first: Streamlit's HTML with words of ours in it, which are shown before its scripts have come.

Over a slow line they take many seconds. A question can be typed meanwhile; ``waiting.js`` hands it to the page, and
says so in words when the line or the server is gone later.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import get_args
from urllib.parse import urlencode

import streamlit
from babel import negotiate_locale
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.language.messages import ENGLISH, Messages, languages
from app.page.kept import address
from app.page.places import NOWHERE, Place
from app.page.templates import render
from app.page.theme import colours

_HERE = Path(__file__).parent
_STREAMLIT = Path(streamlit.__file__).parent / "static"
_LIST = _STREAMLIT / "manifest.json"
ICONS, SANS, SERIF = (_HERE / "vendor" / f"{name}.woff2" for name in ("icons", "sans", "serif"))
"""Fonts that :mod:`kb_pipeline_tests.page_fonts` cuts out of Streamlit's: 60 kB in place of 970 kB."""
INSTEAD = {"/static/media/MaterialSymbols-Rounded.nEdyypZU.woff2": ICONS}
"""Icons of ours in place of the font that they are from, which Streamlit's scripts load in any case. A Streamlit with
another one may show other icons, and sends its own.
"""
LETTERS = (
    *((0x20, 0x7E), (0xA0, 0x17F), (0x2010, 0x2027), (0x2030, 0x2030), (0x2032, 0x2033), (0x2039, 0x203A)),
    *((0x2044, 0x2044), (0x20AC, 0x20AC), (0x2122, 0x2122), (0x2190, 0x2193), (0x2212, 0x2212), (0x2248, 0x2248)),
    *((0x2260, 0x2260), (0x2264, 0x2265), (0x2713, 0x2713)),
)
"""First and last of each range of characters that our fonts of letters have: those of Western and Central Europe."""
MARK = _HERE / "mark.svg"
ON_EACH_PAGE, WHERE_ONE_ASKS = ("BidiComponent", "Button", "Html"), ("ChatInput", "Selectbox")
"""Streamlit's names of the elements that a page of ours begins with. Its own scripts ask for the code of an element
only once one is to be shown, and then for one after the other.
"""
FILES = (SANS, SERIF, MARK)
"""What the frame asks for, to be sent by :class:`app.page.kept.KeptFiles`."""

_SCRIPT = _HERE / "waiting.js"
_PLACES: frozenset[str] = frozenset(get_args(Place)) - {"ask"}
"""Streamlit has the first page at the root alone."""
_FIRST = frozenset({"ask", "chat", "index.html"})
_LONGEST_NAME = 80
"""Characters of an address that are told: who typed it knows it again."""
_NOT_KEPT = {"cache-control": "no-store"}
_SCRIPTS = re.compile(r'<(?:script|link)[^>]*?(?:src|href)="\.(/static/[^"]+\.(?:js|css))"')
_STYLES = re.compile(r'\s*<link[^>]*rel="stylesheet"[^>]*>')
_FONT_FIRST = re.compile(r'\s*<link[^>]*rel="preload"[^>]*as="font"[^>]*>')
_ICON = re.compile(r'<link rel="shortcut icon"[^>]*>')
_TITLE = re.compile(r"<title>.*?</title>")
_HTML = "text/html"


class Frame:
    """Sends the frame where Streamlit would send its HTML, and leads from addresses of no page to the first one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not is_read or scope["path"].count("/") != 1:
            await self._app(scope, receive, send)
            return
        instead = self._answer(scope)
        is_replaced = False

        async def send_instead(message: Message) -> None:
            nonlocal is_replaced
            if message["type"] == "http.response.start" and _is_page(message):
                is_replaced = True
                await instead(scope, receive, send)
            elif not is_replaced:
                await send(message)

        headers = MutableHeaders(raw=[*scope["headers"]])
        for name in ("if-none-match", "if-modified-since"):  # they are about Streamlit's HTML
            del headers[name]
        await self._app({**scope, "headers": headers.raw}, receive, send_instead)

    @staticmethod
    def _answer(scope: Scope) -> Response:
        name = scope["path"].removeprefix("/")
        if name and name not in _PLACES:
            return RedirectResponse(_instead_of(name, scope["query_string"].decode("latin-1")), 307, _NOT_KEPT)
        language = _language(Headers(scope=scope).get("accept-language", ""))
        headers = {"cache-control": "no-cache", "vary": "Accept-Language", "content-language": language}
        return HTMLResponse(frame(language, can_ask=not name), headers=headers)


def _instead_of(name: str, query: str) -> str:
    """Where an address leads that is no place of the page: to the place that it means, else to the first, which says
    that there is none.
    """
    meant = name.casefold()
    if meant in _PLACES:
        return f"./{meant}?{query}" if query else f"./{meant}"
    if meant not in _FIRST:
        query = "&".join(filter(None, (query, urlencode({NOWHERE: name[:_LONGEST_NAME]}))))
    return f"./?{query}" if query else "./"


def linked() -> list[str]:
    """The addresses of the scripts and styles that the frame asks for."""
    return [*_SCRIPTS.findall(_html()), *_code_of(ON_EACH_PAGE + WHERE_ONE_ASKS)]


def _code_of(elements: tuple[str, ...]) -> list[str]:
    """The addresses of the scripts of some elements that Streamlit's HTML does not ask for, by Streamlit's own list.

    Of a Streamlit that has no such list, or other names, there are none: it asks for them itself.
    """
    chunks = json.loads(_LIST.read_text(encoding="utf-8")) if _LIST.exists() else {}
    needed = [each for each, chunk in chunks.items() if chunk.get("isDynamicEntry") and chunk.get("name") in elements]
    for each in needed:  # grows meanwhile
        needed += [other for other in chunks[each].get("imports", ()) if other not in needed]
    files = {f"/{chunks[each]['file']}" for each in needed}
    return sorted(files.difference(_SCRIPTS.findall(_html())))


@cache
def frame(language: str, *, can_ask: bool) -> str:
    """The HTML, with what waits in a language; ``can_ask``: a question can be typed at once.

    Streamlit's style sheet comes after it: browsers paint and run nothing that stands behind a sheet until it is there.
    """
    html = _html()
    styles = "".join(_STYLES.findall(html))
    html = _STYLES.sub("", _FONT_FIRST.sub("", html))
    html = _TITLE.sub("<title>Knowledge base</title>", _ICON.sub(_link_to_mark(), html))
    code = _code_of(ON_EACH_PAGE + WHERE_ONE_ASKS if can_ask else ON_EACH_PAGE)
    head = render("frame", "head", colours(), code, [address(SANS), address(SERIF)])
    mark, script = (file.read_text(encoding="utf-8") for file in (MARK, _SCRIPT))
    begin = render("frame", "waiting", Messages.of(language), can_ask, mark, script)
    letters = ", ".join(f"U+{first:X}-{last:X}" for first, last in LETTERS)
    fonts = render("frame", "fonts", {"Source Sans": address(SANS), "Source Serif": address(SERIF)}, letters)
    html = html.replace("</head>", f"{head}\n</head>", 1)
    return html.replace("<body>", f"<body>\n{begin}{styles}\n{fonts}", 1)


def _html() -> str:
    return (_STREAMLIT / "index.html").read_text(encoding="utf-8")


def _link_to_mark() -> str:
    return f'<link rel="shortcut icon" href="{address(MARK)}">'


def _is_page(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    return message["status"] == 200 and headers.get("content-type", "").startswith(_HTML)


def _language(accepted: str) -> str:
    """The first language of a browser that we have, as browsers name them: the best first."""
    wanted = [each.partition(";")[0].strip() for each in accepted.split(",")]
    return negotiate_locale(filter(None, wanted), languages(), sep="-") or ENGLISH
