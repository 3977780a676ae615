"""Markdown with optional front matter: https://spec.commonmark.org, tables and strikethrough as on GitHub."""

import datetime
import re
from collections.abc import Mapping
from html import escape
from importlib.metadata import version
from typing import Any, ClassVar

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.first_bytes import binary_kind_of
from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.markdown_parsers import authored_parser
from kb_pipeline.steps.metadata import read_facts, restricting_key
from kb_pipeline.steps.strict_yaml import strict_yaml

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)(?:\n|\A)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LONGEST_FRONT_MATTER = 100_000
"""Characters; what is longer is text between two rules, and YAML of megabytes takes minutes."""
_MOST_NULLS = 20
"""Zeros in the first 10,000 characters: a text may be damaged, a program has hundreds."""


class MarkdownSource(Source):
    """Reads Markdown by markdown-it-py. Raw HTML in it is parsed and cleaned like any page."""

    version: ClassVar[str] = f"markdown-2+markdown-it-py-{version('markdown-it-py')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        fields, body = self.check(article_id, name, data)
        html = f"{_head(fields)}<body>{authored_parser().render(body)}</body></html>"
        facts, warnings = read_facts(_with_other_names(fields), name)
        return SourceDocument(
            html,
            title=_text(fields.get("title")),
            warnings=tuple(warnings),
            facts=DocumentFacts(**facts) if facts else None,
        )

    def check(self, article_id: str, name: str, data: bytes) -> tuple[Mapping[str, Any], str]:
        """Return the fields of the front matter, and the Markdown behind it, which is not parsed.

        Raises:
            UnreadableArticleError: it is no Markdown in UTF-8, or its front matter is wrong.
            EmptyArticleError: it is empty.
        """
        if kind := binary_kind_of(data):
            raise UnreadableArticleError(f"{article_id}: {name} is {kind} under another name; rename it")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise UnreadableArticleError(f"{article_id}: {name} is not UTF-8 text ({exc}); save it as UTF-8") from exc
        if text[:10_000].count("\x00") > _MOST_NULLS:
            raise UnreadableArticleError(f"{article_id}: {name} is binary, not Markdown")
        fields, body = self._front_matter(article_id, name, clean(text))
        if not body.strip():
            raise EmptyArticleError(f"{article_id}: {name} is empty; stage the article again")
        return fields, body

    def _front_matter(self, article_id: str, name: str, text: str) -> tuple[Mapping[str, Any], str]:
        """Split off the fields between ``---`` at the beginning; without fields it is a rule, and text."""
        match = _FRONT_MATTER.match(text)
        if match is None or len(match[1]) > _LONGEST_FRONT_MATTER:
            return {}, text
        try:
            fields = strict_yaml(f"\n{match[1]}")  # after a line, as it is in the file
        except ValueError as exc:
            problem = " ".join(str(exc).split())[:300]
            raise UnreadableArticleError(
                f"{article_id}: the front matter of {name} is not valid YAML ({problem}); mend it, or remove its lines"
            ) from exc
        if not isinstance(fields, dict):
            return {}, text
        fields = {str(key).strip(): value for key, value in fields.items()}
        if suspect := restricting_key(fields):
            raise UnreadableArticleError(
                f"{article_id}: the front matter of {name} has {suspect[:80]!a}; who may read an article is "
                "decided by access_control_list in metadata.json alone, so nobody can until it is moved there"
            )
        return {key.casefold(): value for key, value in fields.items()}, text[match.end() :]


def _head(fields: Mapping[str, Any]) -> str:
    """Write the fields that we know into the head of a page, where the converter reads them."""
    language = _text(fields.get("language") or fields.get("lang"))
    address = _text(fields.get("source_url") or fields.get("canonical_url") or fields.get("url"))
    topics = [topic for name in ("keywords", "tags", "key_topics") for topic in _texts(fields.get(name))]
    return (
        f'<html lang="{escape(language)}"><head>'
        f'<meta name="keywords" content="{escape(", ".join(topics))}">'
        f'<meta property="og:url" content="{escape(address)}"></head>'
    )


def _with_other_names(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**fields, "author": fields.get("author") or fields.get("authors")}


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [_text(item) for item in value]
    return [part.strip() for part in re.split("[,;]", _text(value))]


def _text(value: object) -> str:
    is_plain = isinstance(value, str | int | float | datetime.date) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_plain else ""
