"""Read an article's ``metadata.json``, strictly, because it can restrict who may read the article.

A misspelt, duplicate or nested key must not make a restricted article public, so a file with one is rejected as a
whole. All other values are cleaned like the metadata of the HTML.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import ArticleMetadata
from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.said_of_images import IMAGES, misplaced
from kb_pipeline.steps.strict_json import strict_json

METADATA_FILE = "metadata.json"
FACTS = ("document_type", "department", "author", "upload_date")
"""Keys of facts about a document. A value that cannot be used is left out with a warning: nothing depends on it."""
LARGEST_METADATA = 1_000_000
"""Bytes."""

_ACCESS = "access_control_list"
_SIMILAR = 0.75
"""Similarity (Ratcliff and Obershelp) to ``access_control_list`` from which a key counts as a misspelling of it."""
_LONGEST_KEY = 64
"""Letters; a longer key cannot be a misspelling."""
_NAMES_ACCESS = re.compile("acls?|acl(list|groups?|users?|entries)|accesscontrol.*|accesslist")
_MEANS_ACCESS = re.compile(
    "access(?!ib|or|ed|modes?|modesufficient|token|key|date|time|count|url|number).*|(read|user|group|reader)access"
    "|allow(ed|s)?(to|users?|groups?|roles?|readers?|principals?|list)?|den(y|ied)(users?|groups?|list)?"
    "|.*permissions?|.*restrict(ed|ions?)?(to)?|visib(le|ility)(to|for|by)?|read(able)?by|whocanread"
    "|(user|security|ad|entra|read|reader)?(groups?|roles?)(allowed)?"
    "|(authori[sz]ed)?(users?|readers?|viewers?|principals?)(allowed)?|private|confidential(ity)?|sharedwith"
)
"""For top-level keys only: in nested objects these words have other meanings (the role of an author)."""
_FOR_ALL = frozenset({"", "all", "anyone", "everybody", "everyone", "open", "public"})
_MOST_IGNORED = 20
"""Unknown keys that are named in warnings."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*")
_LONGEST_TITLE = 500
"""Characters: no title of a person is longer, and it stands before every chunk."""
_LONGEST_FACT = 200
"""Characters of a fact: a name, a place, a version."""
_LONGEST_NAME = 256
"""Characters in the name of a user or group."""


class ReadMetadata(NamedTuple):
    """The metadata, and warnings about values that were ignored or shortened."""

    metadata: ArticleMetadata
    warnings: tuple[str, ...]


def read_metadata(data: bytes, name: str = METADATA_FILE) -> ReadMetadata:
    """Read the bytes of a ``metadata.json``, or of another file with its fields, whose other fields are ignored.

    Raises:
        UnreadableArticleError: the file is not valid, or it is unclear who may read the article.
    """
    try:
        return _read(data, name)
    except _InvalidError as exc:
        raise UnreadableArticleError(
            f"{name} is not valid: {exc}; the article is hidden from everybody until it is mended"
        ) from exc


def checked_readers(names: Iterable[str]) -> list[str]:
    """The names of users and groups, once each, without space around them.

    Raises:
        ValueError: one cannot be such a name, and may be a mistyped restriction.
    """
    readers = list(dict.fromkeys(name.strip() for name in names))
    for name in readers:
        if not name:
            raise ValueError("it contains an empty name")
        if len(name) > _LONGEST_NAME or not name.isprintable() or clean(name) != name:
            raise ValueError(f"{_shown(name)} cannot be the name of a user or group")
    return readers


class _InvalidError(Exception):
    """What is wrong with the file."""


def _read(data: bytes, name: str) -> ReadMetadata:
    values = _parse(data)
    facts, fact_warnings = read_facts(values, name)
    stated = {key: values.pop(key) for key in FACTS if key in values}
    known = {*ArticleMetadata.model_fields, *([IMAGES] if name == METADATA_FILE else ())}
    unknown = {key: value for key, value in values.items() if key not in known}
    if suspect := next(_suspects({**unknown, **stated, IMAGES: misplaced(values.get(IMAGES))}), None):
        raise _InvalidError(f"{_shown(suspect)} looks like a misspelt or misplaced {_ACCESS!r}")
    try:
        metadata = ArticleMetadata.model_validate(values)
    except ValidationError as exc:
        problem = exc.errors()[0]
        reason = 'it must be a list: ["…"]' if problem["type"] == "tuple_type" else problem["msg"]
        raise _InvalidError(f"{'.'.join(map(str, problem['loc']))}: {reason}") from exc
    try:
        access = checked_readers(metadata.access_control_list)
    except ValueError as exc:
        raise _InvalidError(f"{_ACCESS}: {exc}") from exc
    cleaned, warnings = _cleaned(metadata, name)
    complete = cleaned.model_copy(update={_ACCESS: tuple(access), "main": metadata.main, **facts})
    if name != METADATA_FILE:
        return ReadMetadata(complete, (*warnings, *fact_warnings))
    ignored = [
        f"{METADATA_FILE}: {_shown(key)} is an unknown field and was ignored" for key in [*unknown][:_MOST_IGNORED]
    ]
    if len(unknown) > _MOST_IGNORED:
        ignored.append(f"{METADATA_FILE}: {len(unknown) - _MOST_IGNORED:,} more fields are not known and were ignored")
    return ReadMetadata(complete, (*warnings, *fact_warnings, *ignored))


def read_facts(values: Mapping[str, object], place: str) -> tuple[dict[str, str], list[str]]:
    """Return the facts about a document that are set, cleaned, and a warning for each that is left out.

    A name may also be a list of names. ``place`` is the file, for the warnings.
    """
    facts: dict[str, str] = {}
    warnings: list[str] = []
    for name in FACTS:
        value = values.get(name)
        if value in (None, "", []):
            continue
        text = _one_line(value)
        if name == "upload_date":
            text, wanted = _day(text), "a date (2024-05-31)"
        else:
            wanted = f"a text of at most {_LONGEST_FACT} characters"
        if text and len(text) <= _LONGEST_FACT:
            facts[name] = text
        else:
            warnings.append(f"{place}: {name} is not {wanted} and was left out")
    return facts, warnings


def _one_line(value: object) -> str:
    """Return a text, a date or a list of texts on one line; "" for anything else."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | date) for item in items):
        return ""
    return ", ".join(filter(None, (_text(str(item)) for item in items)))


def _day(text: str) -> str:
    try:
        return datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return ""


@lru_cache(maxsize=10_000)  # a build looks at each name several times
def may_be_metadata_file(name: str) -> bool:
    """Return whether a file with another name was probably meant to be ``metadata.json``."""
    letters, target = _letters(name), "metadatajson"
    # page-metadata.json and metadata.js are other files
    is_another = letters.endswith("metadatajs") or (letters.endswith(target) and len(letters) > len(target) + 2)
    return not is_another and _is_similar(SequenceMatcher(b=target), letters, 0.85)


def restricting_key(values: dict[str, object]) -> str | None:
    """Return a key that is the access control list, or may be meant as it."""
    return _ACCESS if values.get(_ACCESS) else next(_suspects(values), None)


def _parse(data: bytes) -> dict[str, object]:
    if len(data) > LARGEST_METADATA:
        raise _InvalidError(f"it has {len(data):,} bytes; at most {LARGEST_METADATA:,} are read")
    try:
        values = strict_json(data.decode("utf-8-sig"))
    except ValueError as exc:
        raise _InvalidError(str(exc)) from exc
    if not isinstance(values, dict):
        raise _InvalidError('it must be an object: {"title": "…"}')
    return values


def _all_keys(value: object) -> Iterator[str]:
    """Return the keys of an object and of all nested objects; iterative, because the author decides the depth."""
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as fields:
                yield from fields
                pending.extend(fields.values())
            case list() as items:
                pending.extend(items)


def _suspects(unknown: dict[str, object]) -> Iterator[str]:
    """Return the keys that may be meant as the access control list."""
    for key, value in unknown.items():
        letters = _letters(key)
        if len(letters) <= _LONGEST_KEY and _MEANS_ACCESS.fullmatch(letters) and _can_restrict(value):
            yield key
    matcher = SequenceMatcher(b=_ACCESS.replace("_", ""))
    for key in _all_keys(unknown):
        letters = _letters(key)
        if len(letters) <= _LONGEST_KEY and (
            _NAMES_ACCESS.fullmatch(letters) or _is_similar(matcher, letters, _SIMILAR)
        ):
            yield key


def _is_similar(matcher: SequenceMatcher[str], letters: str, at_least: float) -> bool:
    matcher.set_seq1(letters)
    # each of these is an upper bound of the next one, which takes longer
    return all(ratio() >= at_least for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def _can_restrict(value: object) -> bool:
    """Return whether a value can limit who may read the article: it is not empty and does not mean everybody."""
    return value.strip().casefold() not in _FOR_ALL if isinstance(value, str) else bool(value)


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", unicodedata.normalize("NFKC", name[:1000]).casefold())


def _cleaned(metadata: ArticleMetadata, name: str) -> tuple[ArticleMetadata, list[str]]:
    """Clean the values like those of the HTML, and return warnings about what was dropped."""
    warnings = []
    title = _text(metadata.title or "")
    if len(title) > _LONGEST_TITLE:
        title = title[: _LONGEST_TITLE - 1] + "…"
        warnings.append(f"{name}: the title is longer than {_LONGEST_TITLE} characters and was shortened")
    address = (metadata.source_url or "").strip()
    if address and not (_WEB_ADDRESS.fullmatch(address) and _text(address) == address):
        warnings.append(f"{name}: source_url is not a web address (https://…) and was left out")
        address = ""
    language = (metadata.language or "").strip()
    if language and not _LANGUAGE.fullmatch(language):
        warnings.append(f"{name}: language is not a language tag (en, de-AT) and was left out")
        language = ""
    topics = dict.fromkeys(topic for topic in map(_text, metadata.key_topics) if topic)
    return ArticleMetadata(
        title=title or None, source_url=address or None, language=language or None, key_topics=tuple(topics)
    ), warnings


def _text(value: str) -> str:
    """Return the value on one line, without unwanted characters."""
    return " ".join(clean(_SURROGATE.sub("\ufffd", value)).split())


def _shown(text: str) -> str:
    return ascii(text[:80])
