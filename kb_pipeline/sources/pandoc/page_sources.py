"""The sources of pages, as authors write them: reStructuredText and Org, read by pandoc.

Other files that they take in are not read: a document is one file.
"""

import re
from typing import ClassVar

from kb_pipeline.sources.pandoc.source import PandocSource, not_taken_in
from kb_pipeline.sources.plain_bytes import text_in

_LABELLED = re.compile(r'<code class="interpreted-text"[^>]*>([^<]+?)\s*&lt;[^<]*?&gt;</code>')
_SUBSTITUTION = re.compile(r'<a href="##SUBST##[^"]*">([^<]*)</a>')


class PageSource(PandocSource):
    """A text. ``takes_in`` matches what names another ``file``, at which pandoc would stop, behind what is ``kept``."""

    takes_in: ClassVar[re.Pattern[str] | None] = None

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        text = f"\n{text_in(name, data)}\n"
        if self.takes_in is None:
            return text.encode(), ()
        files = [match["file"] for match in self.takes_in.finditer(text)]
        return self.takes_in.sub(r"\g<kept>", text).encode(), not_taken_in(name, files)


class RstSource(PageSource):
    """reStructuredText, also that of Sphinx."""

    reader: ClassVar[str] = "rst"
    takes_in: ClassVar[re.Pattern[str] | None] = re.compile(
        r"(?<=\n)(?P<kept>[ \t]*\.\. csv-table::[^\n]*\n(?:[ \t]+:[\w-]+:[^\n]*\n)*?)"
        r"[ \t]+:(?:file|url):[ \t]+(?P<file>\S[^\n]*)"
    )

    def finish(self, html: str) -> str:
        """Write what only Sphinx knows as its words: the label of a reference, and the name of a substitution."""
        return _SUBSTITUTION.sub(r"\1", _LABELLED.sub(r"\1", html))


class OrgSource(PageSource):
    """Org, of Emacs."""

    reader: ClassVar[str] = "org"
