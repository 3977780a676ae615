"""Runs the program pandoc on one document, within limits and in its sandbox: it reads this one file and nothing else.

The sandbox keeps the readers of all formats from files and from the network, whatever a document names. Time, memory
and what is written are limited besides, and a program whose supervisor died ends by itself.
"""

import math
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from kb_pipeline.errors import MissingExtraError, UnreadableArticleError
from kb_pipeline.limited import waiting
from kb_pipeline.sources.base import DocumentLimits

INSIDE = "kb_inside"
"""The folder, beside the document, into which the pictures in it are written."""
MOST_HTML = 50_000_000
"""Bytes that pandoc may write; a book of 1,000 pages has some 3 million."""
_MOST_MESSAGES = 100_000
"""Bytes of what pandoc says that are read: it may warn at every line."""
_LOOK_SECONDS = 0.02
"""Seconds between looks at the clock and at what is written."""
_HEAP_OVERFLOW = 251  # the exit status of Haskell's runtime when -M is reached
_NOT_FOUND = 99  # pandoc's exit status for a resource that it cannot find
_REMEDY = "raise KB_DOCUMENT_SECONDS or KB_DOCUMENT_MEMORY_MB, or split it"
_TEMPLATE = """<html lang="$if(lang)$$lang$$else$$language$$endif$"><head>$if(title)$<title>$pagetitle$</title>$endif$
$for(author-meta)$<meta name="author" content="$author-meta$">
$endfor$<meta name="date" content="$date-meta$">
<meta name="keywords" content="$for(keywords)$$keywords$$sep$, $endfor$"></head><body>
$if(shown)$$if(title)$<h1 class="kb-title">$title$</h1>
$endif$$endif$$body$
</body></html>
"""
_LIMITED = 'ulimit -t "$0" && exec "$@"'
"""Seconds of the processor, for a program that nobody watches any more."""


class Converted(NamedTuple):
    """The HTML that pandoc wrote, the pictures by their paths below :data:`INSIDE`, and its warnings."""

    html: str
    pictures: dict[str, bytes]
    warnings: tuple[str, ...]


def pandoc_version() -> str:
    """Return the release of the package that brings pandoc; "none" if it is not installed."""
    try:
        return version("pypandoc-binary")
    except PackageNotFoundError:
        return "none"


def convert(
    folder: Path, name: str, data: bytes, reader: str, limits: DocumentLimits, *, shows_title: bool
) -> Converted:
    """Convert a document to HTML, inside the empty ``folder``.

    ``shows_title``: what the format keeps apart as its title is a heading that readers see.

    Raises:
        UnreadableArticleError: the document is damaged or exceeds a limit, or pandoc is not installed.
    """
    (folder / "input").write_bytes(data)
    (folder / "page.html").write_text(_TEMPLATE, "utf-8")
    arguments = [
        *(_program(name), "+RTS", f"-M{math.ceil(limits.memory_mb)}m", "-RTS", "--sandbox", "--from", reader),
        *("--to", "html", "--template", "page.html", f"--extract-media={INSIDE}", "--mathjax", "--wrap", "none"),
        *(
            "--reference-location",
            "section",
            "--syntax-highlighting",
            "none",
            "--data-dir",
            str(folder),
            *(["--variable", "shown"] if shows_title else []),
        ),
    ]
    with waiting():  # for another process, which has its own limits
        code = _run(arguments, folder, name, limits)
    messages = (folder / "messages").read_bytes()[:_MOST_MESSAGES].decode("utf-8", "replace")
    if code:
        raise UnreadableArticleError(f"{name} {_problem(code, messages, limits)}")
    inside = folder / INSIDE
    pictures = {
        path.relative_to(inside).as_posix(): path.read_bytes()
        for path in sorted(inside.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    html = (folder / "output").read_text("utf-8", "replace")
    return Converted(html, pictures, tuple(messages.splitlines()))


def _program(name: str) -> str:
    """Return the path of the program that the package brings; another pandoc could be of any age."""
    spec = find_spec("pypandoc")
    path = Path(spec.origin).parent / "files" / "pandoc" if spec and spec.origin else None
    if path is None or not path.is_file():
        missing = str(MissingExtraError(name, "formats"))
        raise UnreadableArticleError(missing)  # the others of the run need no pandoc
    return str(path)


def _run(arguments: list[str], folder: Path, name: str, limits: DocumentLimits) -> int:
    """Run the program, which reads, writes and complains in files of the folder; return its exit code."""
    output = folder / "output"
    with (folder / "input").open("rb") as read, output.open("wb") as written, (folder / "messages").open("wb") as told:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, str(math.ceil(min(limits.seconds, 1e6)) + 1), *arguments],
            stdin=read,
            stdout=written,
            stderr=told,
            cwd=folder,
            env={"LC_ALL": "C.UTF-8"},
        )
    deadline = time.monotonic() + limits.seconds
    try:
        while True:
            try:
                return process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise UnreadableArticleError(f"{name} took longer than {limits.seconds:g} s; {_REMEDY}") from None
                if output.stat().st_size > MOST_HTML:
                    raise UnreadableArticleError(
                        f"{name} has more than {MOST_HTML:,} bytes of text; split it"
                    ) from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _problem(code: int, messages: str, limits: DocumentLimits) -> str:
    if code == _HEAP_OVERFLOW:
        return f"needed more than {limits.memory_mb:,.0f} MB of memory; {_REMEDY}"
    lines = [line for line in messages.splitlines() if line.strip() and not line.startswith("[")]
    said = " ".join(" ".join(lines).split())[:300]
    if code == _NOT_FOUND:
        return f"takes in another file, which is not read ({said}); put its text into the document"
    return f"cannot be read by pandoc ({said or f'it ended with {code}'}); mend the place, or save it again"
