"""Check for text that readers must not see outside of code: markup, and the page's own code.

Markup is certain: markup that the author wrote about is escaped, so an unescaped tag or entity is a leftover. The
page's code is a guess, because an article may show scripts without marking them as code.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kb_pipeline.records import CheckResult, ConvertedArticle
from kb_pipeline.steps.checks.contents import PlacedPiece, contents_of
from kb_pipeline.steps.checks.specs import named, outcome, short


class _Leak(NamedTuple):
    """The pattern of a leak; texts without any of the ``hints`` are skipped."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def places(self, prose: Sequence[PlacedPiece]) -> list[PlacedPiece]:
        return [
            PlacedPiece(match[0], place.section)
            for place in prose
            if any(hint in place.text for hint in self.hints)
            for match in self.pattern.finditer(place.text)
        ]


_ENTITY = _Leak(("&",), re.compile(r"(?<!\\)&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"))
# Placeholders and escapes of the conversion, made of characters that are removed from the source.
_PLACEHOLDER = _Leak(("",), re.compile("[\ue000-\uf8ff]+[0-9]*"))
_SCRIPT = _Leak(
    ("function", "document.", "window.", "$(", ".push(", "CDATA"),
    re.compile(
        r"""
        \bfunction\b \s* \w* \s* \( [^()]* \) \s* \{
      | \b(?:document|window) \. \w+ (?: \. \w+ )* \s* (?: = (?!=) | \( )
      | \$ \( \s* (?: document | function | ["'] )
      | \b(?:_gaq|dataLayer) \. push \(
      | <!\\?\[CDATA\\?\[
        """,
        re.VERBOSE,
    ),
)
_STYLE = _Leak(("{",), re.compile(r"[\w*\]] \s* \{ \s* [a-z-]+ \s* : [^{}:;]+ ; [^{}]* \}", re.VERBOSE))
_TEMPLATE = _Leak(("{{", "{%", "<%"), re.compile(r"\{\{ [^{}]* \}\} | \{% [^{}]* %\} | <% [^<>]* %>", re.VERBOSE))


def no_markup_leaked(article: ConvertedArticle) -> CheckResult:
    """Check that there is no HTML, unresolved entity or placeholder of the conversion outside of code."""
    contents = contents_of(article.markdown)
    leaks = {
        "HTML tag": contents.html,
        "unresolved entity": _ENTITY.places(contents.prose),
        "placeholder": _PLACEHOLDER.places(contents.prose),
    }
    advice = "Correct the source there or choose another analyzer, then materialize converted_markdown again."
    return _outcome("no_markup_leaked", leaks, advice)


def no_page_code_in_text(article: ConvertedArticle) -> CheckResult:
    """Check that nothing outside of code looks like a script, a style sheet or a template's placeholder."""
    prose = contents_of(article.markdown).prose
    leaks = {
        "script statement": _SCRIPT.places(prose),
        "style rule": _STYLE.places(prose),
        "template placeholder": _TEMPLATE.places(prose),
    }
    advice = "Remove it from the source if it belongs to the page; mark it up as code if the article is about it."
    return _outcome("no_page_code_in_text", leaks, advice)


def _outcome(name: str, leaks: Mapping[str, Sequence[PlacedPiece]], advice: str) -> CheckResult:
    problems = [
        problem
        for noun, places in leaks.items()
        for problem in named(noun, f"in the text{_below(places)}", [place.text for place in places])
    ]
    return outcome(name, problems, advice, {"leaks": sum(map(len, leaks.values()))})


def _below(places: Sequence[PlacedPiece]) -> str:
    return f" below {short(places[0].section)!r}" if places and places[0].section else ""
