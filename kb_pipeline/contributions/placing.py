"""Where a contribution goes in the staging folder, and how its text is put there.

It goes into a section of ``<service>/index.md``. An article that is a page or another document, or that was taken in
from a source, whose next change would overwrite it, is left alone, and ``<service>-notes`` stands beside it, with the
same readers. All other bytes of the file stay as they are.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it.token import Token

from kb_pipeline.contributions.base import DEFAULT_SECTIONS, Contribution
from kb_pipeline.contributions.content import below, escaped, heading_tokens, without_claims
from kb_pipeline.errors import ContributionError, UnreadableArticleError
from kb_pipeline.intake.folders import ORIGIN
from kb_pipeline.records import ContributionType
from kb_pipeline.steps.main_file import INDEX_FILE, main_file
from kb_pipeline.steps.markdown_parsers import authored_parser
from kb_pipeline.steps.metadata import read_metadata
from kb_pipeline.store.files import read_bytes
from kb_pipeline.store.staging import Staging

MARKDOWN_FILE = "index.md"
NOTES = "-notes"
_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?:\r\n?|\n)(?:.*?(?:\r\n?|\n))??(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.DOTALL
)
_ID = re.compile(r"\(contribution (\d{8}-[0-9a-f]{8})\)")
_FOOTNOTE = re.compile(
    r"Contributed by (.{1,300}?) on (\d{4}-\d\d-\d\d), accepted by (.{1,300}?) on (\d{4}-\d\d-\d\d) "
    r"\(contribution (\d{8}-[0-9a-f]{8})\)"
)
_NEW_SECTION_LEVEL = 2
"""Below the title of its article."""
_LONGEST_NAME = 100
"""Characters of a person's name."""
_EVERYBODY = ""
"""Stands for an empty list of readers; no reader has this name."""


@dataclass(frozen=True)
class Target:
    """The file that a contribution goes to, as it is now; ``text`` is ``None`` if it is to be made.

    ``metadata`` is what its ``metadata.json`` must hold if the article is new, ``None`` if it needs none.
    """

    article_id: str
    text: str | None
    metadata: str | None = None


def everything_is_seen(_: str) -> bool:
    """Say that somebody sees every article."""
    return True


def find_target(staging: Staging, service: str, is_seen: Callable[[str], bool] = everything_is_seen) -> Target:
    """Find the file that contributions to a service go to, for somebody for whom other articles do not exist.

    Raises:
        ContributionError: there is none that may be written to.
        UnreadableArticleError: it is not clear who may read the service's article.
        StorageError: the staging folder cannot be read.
    """
    if not is_seen(service):
        return Target(service, None)
    if (text := _markdown_of(staging, service)) is not None:
        return Target(service, text)
    if not staging.names(service):
        return Target(service, None)
    notes = service + NOTES
    readers = _readers_of(staging, service)
    if is_seen(notes) and (text := _markdown_of(staging, notes)) is not None:
        if readers and not set(readers).issuperset(_readers_of(staging, notes) or (_EVERYBODY,)):
            raise ContributionError(
                f"{notes} may be read by people who may not read {service}; name only readers of {service} in the "
                f"access_control_list of {notes}"
            )
        return Target(notes, text)
    if is_seen(notes) and staging.names(notes):
        raise ContributionError(
            f"neither {service} nor {notes} is an article in {MARKDOWN_FILE}, so nothing can be added to them; hand it "
            "in for a service of another name"
        )
    return Target(notes, None, metadata_for(readers))


def metadata_for(readers: Sequence[str]) -> str | None:
    """Return the metadata of a new article with these readers; ``None`` if it needs none."""
    return json.dumps({"access_control_list": list(readers)}, indent=2) + "\n" if readers else None


def _readers_of(staging: Staging, article_id: str) -> Sequence[str]:
    metadata = staging.metadata(article_id) or b"{}"
    return read_metadata(metadata, staging.metadata_file).metadata.access_control_list


def _markdown_of(staging: Staging, article_id: str) -> str | None:
    """Return the text of the article's ``index.md`` if that is its main file, and an author's."""
    names = staging.names(article_id)
    if not names or MARKDOWN_FILE not in names or INDEX_FILE in names or _is_taken_in(staging, article_id):
        return None
    metadata = read_metadata(staging.metadata(article_id) or b"{}", staging.metadata_file).metadata
    if main_file(names, metadata.main or "") != MARKDOWN_FILE:
        return None
    try:
        return read_bytes(staging.path(article_id, MARKDOWN_FILE)).decode()
    except UnicodeDecodeError as exc:
        raise UnreadableArticleError(
            f"{article_id}: {MARKDOWN_FILE} is not UTF-8 text ({exc}); save it as UTF-8"
        ) from exc


def _is_taken_in(staging: Staging, article_id: str) -> bool:
    return isinstance(staging.root, Path) and (Path(staging.root) / article_id / ORIGIN).is_file()


def target_section(target: Target, contribution_type: ContributionType, section: str) -> str:
    """Return the section that a contribution goes to; "" for the whole of a new article.

    Raises:
        ContributionError: it is a whole article, and there is one already.
    """
    wanted = " ".join(section.lstrip("#").split())
    if wanted or contribution_type != "New service":
        return wanted or DEFAULT_SECTIONS[contribution_type]
    if target.text is not None:
        raise ContributionError(
            f"the article {target.article_id} is there already, so it is not a new service; name the section that it "
            "goes to (--section), or choose another type"
        )
    return ""


def has_section(text: str, section: str) -> bool:
    """Return whether the Markdown has a heading with these words."""
    return _find_section(text, section) is not None


def ids_in(text: str) -> list[str]:
    """Return the ids of the contributions whose footnotes are in a text."""
    return _ID.findall(text)


@dataclass(frozen=True)
class Footnote:
    """What a footnote says; the days are ISO 8601."""

    id: str
    contributed_by: str
    contributed_on: str
    accepted_by: str
    accepted_on: str


def footnotes_in(text: str) -> list[Footnote]:
    """Return the footnotes of contributions in a published text."""
    return [
        Footnote(contribution_id, by.replace("\\", ""), on, reviewer.replace("\\", ""), accepted_on)
        for by, on, reviewer, accepted_on, contribution_id in _FOOTNOTE.findall(text)
    ]


def notes_title(service: str, title: str) -> str:
    """Return the title of the article beside one with this ``title``, "" if that has none yet."""
    words = " ".join((title or re.sub(r"[-_.]+", " ", service)).split())
    return f"{words[:1].upper()}{words[1:]}: notes"


def with_contribution(target: Target, contribution: Contribution, section: str, footnote: str, title: str = "") -> str:
    """Return the text of the file with the contribution. ``title`` is that of the service's own article.

    Raises:
        ContributionError: a block in the file is not closed, so that it would swallow the contribution.
    """
    if target.text is None:
        is_beside = target.article_id != contribution.service
        named = notes_title(contribution.service, title) if is_beside else contribution.service
        return _new_article(contribution, section, footnote, named)
    return insert(target.text, section, contribution.description, contribution.content, footnote)


def footnote_of(contribution: Contribution, reviewer: str, day: str) -> str:
    """Return the line that says who proposed and accepted it, when, and its id."""
    whom = {
        "manual": "somebody unnamed",
        "qa": "questions without an answer",
        "feedback": "feedback",
        "evaluation": "evaluation",
    }
    who = _name(contribution.contributed_by) or whom[contribution.source]
    when = contribution.contributed_at[:10]
    return f"*Contributed by {who} on {when}, accepted by {_name(reviewer)} on {day} (contribution {contribution.id}).*"


def _name(name: str) -> str:
    return escaped(without_claims(" ".join(name.split()))[:_LONGEST_NAME])


def _new_article(contribution: Contribution, section: str, footnote: str, named: str) -> str:
    if section:
        begun = f"# {escaped(named)}\n\n## {escaped(section)}\n"
        return insert(begun, section, contribution.description, contribution.content, footnote)
    tokens = authored_parser().parse(contribution.content)
    title = _first_heading(tokens)
    lines = contribution.content.split("\n")
    if title and title[0].tag == "h1":
        words, rest = title[1].content, "\n".join(lines[(title[0].map or (0, 0))[1] :])
    else:
        words, rest = escaped(contribution.description), contribution.content
    whole = f"# {' '.join(words.split())}\n\n{below(rest, 1, authored_parser().parse(rest)).strip()}\n"
    return _checked(whole, f"{whole}\n{footnote}\n", footnote)


def insert(text: str, section: str, description: str, content: str, footnote: str) -> str:
    """Put content at the end of a section, below a heading of its own; a section that is missing comes last.

    Raises:
        ContributionError: a block in the text is not closed, so that it would swallow the content.
    """
    line_end = "\r\n" if text.count("\r\n") * 2 > len(_LINE_END.findall(text)) else "\n"
    place = _find_section(text, section)
    level, offset = place or (_NEW_SECTION_LEVEL, len(text.rstrip()))
    block = "" if place else f"{'#' * level} {escaped(section)}\n\n"
    tokens = authored_parser().parse(content)
    first = _first_heading(tokens)
    if first is not None and first[0].tag == "h1":
        block += below(content, level, tokens)
    elif level + 1 > 6:
        block += f"**{escaped(description)}**\n\n{below(content, level, tokens)}"
    else:
        block += f"{'#' * (level + 1)} {escaped(description)}\n\n{below(content, level + 1, tokens)}"
    block = f"{block.strip()}\n\n{footnote}".replace("\n", line_end)
    before, after = text[:offset], text[offset:]
    blank = line_end * 2 if before else ""
    line_ends = len(_LINE_END.findall(after[: len(after) - len(after.lstrip())]))
    behind = line_end if after.strip() and line_ends < 2 else ""
    changed = f"{before}{blank}{block}{behind}{after or line_end}"
    return _checked(text, changed, footnote)


def _checked(text: str, changed: str, footnote: str) -> str:
    """Check that the footnote is a paragraph of its own, and that all headings of the text are there, in order."""
    tokens = authored_parser().parse(_body(changed))
    is_seen = any(token.type == "inline" and token.level == 1 and token.content == footnote for token in tokens)
    before = [(one.tag, words.content) for one, words in heading_tokens(authored_parser().parse(_body(text)))]
    headings = iter([(one.tag, words.content) for one, words in heading_tokens(tokens)])
    if not is_seen or not all(heading in headings for heading in before):
        raise ContributionError(
            "the file has a block that is not closed (of code, or an HTML comment), which would swallow what is added; "
            "close it in the staging folder first"
        )
    return changed


def _first_heading(tokens: Sequence[Token]) -> tuple[Token, Token] | None:
    """Return the heading with which a text begins."""
    return next(heading_tokens(tokens), None) if tokens and tokens[0].type == "heading_open" else None


def _find_section(text: str, section: str) -> tuple[int, int] | None:
    """Return the level of a section's heading, and where its text ends, before the blank lines behind it."""
    wanted = _folded(section)
    body_at = len(text) - len(_body(text))
    starts = [body_at, *(body_at + match.end() for match in _LINE_END.finditer(_body(text)))]
    headings = [one for one in _headings(_body(text)) if one[0].level == 0]
    for at, (token, words) in enumerate(headings):
        if _folded(words) == wanted:
            level = int(token.tag[1])
            following = next((one for one, _ in headings[at + 1 :] if int(one.tag[1]) <= level), None)
            end = starts[following.map[0]] if following and following.map else len(text)
            return level, len(text[:end].rstrip())
    return None


def _headings(body: str) -> Iterator[tuple[Token, str]]:
    for token, inline in heading_tokens(authored_parser().parse(body)):
        yield token, "".join(child.content or " " for child in inline.children or ())


def _body(text: str) -> str:
    """Return the text behind its front matter."""
    unmarked = text.removeprefix("\ufeff")
    return unmarked[match.end() :] if (match := _FRONT_MATTER.match(unmarked)) else unmarked


def _folded(words: str) -> str:
    return " ".join(words.split()).casefold()
