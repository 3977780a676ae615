"""Runbooks and tickets of a scenario as articles, so that they are found, cited and restricted like all others.

They are made below KB_HOME, and staged beside the authors' own articles: the authors' folder is never written to.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from upath import UPath

from kb_pipeline.errors import InvalidArticleIdError, ScenarioError, StorageError
from kb_pipeline.network.runbooks import Rendered, render_runbooks
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.versions import articles_folder
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.main_file import INDEX_FILE
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.steps.strict_json import strict_json
from kb_pipeline.store.files import read_bytes, write_bytes

RUNBOOK, TICKET = "runbook", "ticket"
SYMPTOMS, DIAGNOSIS, ROOT_CAUSE, RESOLUTION, LESSONS = "Symptoms", "Diagnosis", "Root cause", "Resolution", "Lessons"
"""The headings of a ticket's article."""
INCIDENT, MAINTENANCE = "Incident", "Maintenance"
"""The types of a ticket's article."""
_LARGEST = 2_000_000
"""Bytes of a runbook or a ticket: a long book."""
_LARGEST_IMAGE = 20_000_000
"""Bytes of a picture: many times those of a screenshot."""
_ALL_IMAGES = 100_000_000
"""Bytes: they are in memory together."""
_ALL_TEXTS = 100_000_000
"""Bytes: they are in memory together."""
_KINDS: tuple[Literal["runbooks", "tickets"], ...] = ("runbooks", "tickets")
_SLUG = re.compile(r"[^\w-]+")

Files = Mapping[str, bytes]
"""The files of an article's folder, by name."""


@dataclass(frozen=True)
class Documents:
    """The runbooks by file name, and the tickets by theirs."""

    runbooks: dict[str, str]
    tickets: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class WrittenArticles:
    """The ids of a scenario's articles, those whose files changed, and those whose documents are gone."""

    article_ids: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def topic(scenario: str, kind: str) -> str:
    """The topic that all runbooks, or all tickets, of a scenario have."""
    return f"{scenario}/{kind}"


def read_documents(scenario: ScenarioFolder) -> Documents:
    """Read the runbooks and tickets.

    Raises:
        ScenarioError: they are too large, one or all together, or a ticket is no JSON object.
    """
    sizes = [path.stat().st_size for kind in _KINDS for path in scenario.documents(kind)]
    if sum(sizes) > _ALL_TEXTS:
        raise ScenarioError(f"the runbooks and tickets of {scenario.folder} are larger than {_ALL_TEXTS:,} bytes")
    runbooks = {path.name: _text(path) for path in scenario.documents("runbooks")}
    return Documents(runbooks, {path.name: _ticket(path) for path in scenario.documents("tickets")})


def made_articles(scenario: ScenarioFolder) -> dict[str, Files]:
    """The article of each document, by id.

    Raises:
        ScenarioError: a document cannot be read, or its name or id cannot be that of an article.
    """
    documents, name = read_documents(scenario), scenario.scenario.name
    articles: dict[str, Files] = {}
    owners: dict[str, str] = {}
    for file, read in render_runbooks(documents.runbooks):
        slug = _SLUG.sub("-", file.removesuffix(".md").casefold()).strip("-_")
        article_id = _claimed(f"{name}-{RUNBOOK}-{slug}", slug, file, owners)
        articles[article_id] = _runbook(scenario, read, file)
    for file, ticket in documents.tickets.items():
        number = str(ticket.get("ticket_id") or file.removesuffix(".json")).strip()
        article_id = _claimed(f"{name}-{TICKET}-{number}", number, file, owners)
        articles[article_id] = _ticket_files(scenario, ticket, number)
    return articles


def write_articles(scenario: ScenarioFolder, home: Path) -> WrittenArticles:
    """Write the articles of a scenario. What has not changed is not touched, so nobody takes it for new.

    Raises:
        ScenarioError: a document cannot be used; nothing was written.
        StorageError: a file cannot be written.
    """
    wanted = made_articles(scenario)
    root = articles_folder(home, scenario.scenario.name)
    there = set(staged_ids(home, scenario.scenario.name))
    changed = tuple(article_id for article_id, files in wanted.items() if _write(root, article_id, files))
    removed = tuple(sorted(there - wanted.keys()))
    for article_id in removed:
        _remove(root / article_id)
    return WrittenArticles(tuple(wanted), changed, removed)


def are_written(scenario: ScenarioFolder, home: Path) -> bool:
    """Whether the articles are those that the documents make.

    Raises:
        ScenarioError: a document cannot be used.
        StorageError: a file cannot be read.
    """
    wanted, root = made_articles(scenario), articles_folder(home, scenario.scenario.name)
    if set(staged_ids(home, scenario.scenario.name)) != wanted.keys():
        return False
    return all(_is_same(root / article_id, files) for article_id, files in wanted.items())


def staged_ids(home: Path, scenario: str) -> list[str]:
    """The ids of the articles that were written for a scenario.

    Raises:
        StorageError: their folder cannot be read.
    """
    root = articles_folder(home, scenario)
    try:
        return sorted(path.name for path in root.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise StorageError(f"{root} cannot be read: {exc.strerror}") from exc


def _claimed(article_id: str, own_part: str, file: str, owners: dict[str, str]) -> str:
    """Return the id, which no other document of the scenario may have, in whatever case."""
    if not own_part:
        raise ScenarioError(f"{file} has no letter or digit in its name; rename it")
    try:
        check_article_id(article_id)
    except InvalidArticleIdError as exc:
        raise ScenarioError(f"{file}: {exc}") from exc
    other = owners.setdefault(article_id.casefold(), file)
    if other != file:
        raise ScenarioError(f"{file} and {other} would both be the article {article_id}; rename one of them")
    return article_id


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST:
        raise ScenarioError(f"{path} is larger than {_LARGEST:,} bytes; split it")
    return path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")


def _ticket(path: Path) -> dict[str, Any]:
    try:
        ticket = strict_json(_text(path))
    except ValueError as exc:
        raise ScenarioError(f"{path} is no JSON: {exc}") from exc
    if not isinstance(ticket, dict):
        raise ScenarioError(f"{path} must hold one JSON object")
    return ticket


def _runbook(scenario: ScenarioFolder, read: Rendered, file: str) -> Files:
    title, body = read.title, read.body
    if not title:
        title = file.removesuffix(".md").replace("-", " ").capitalize()
        body = f"<h1>{escape(title)}</h1>\n{body}"
    topics = [topic(scenario.scenario.name, RUNBOOK)]
    files = _article(scenario, title, body, topics, {"document_type": "Runbook"})
    return {**files, **_images(scenario, read.images)}


def _images(scenario: ScenarioFolder, names: Sequence[str]) -> dict[str, bytes]:
    """Return the pictures that a runbook shows and that lie beside it; checks of the article name those missing."""
    folder = scenario.scenario.knowledge.runbooks
    pictures: dict[str, bytes] = {}
    for name in names:
        if not _is_there(scenario.folder / folder / name):
            continue
        path = scenario.path(f"{folder}/{name}")
        if path.stat().st_size > _LARGEST_IMAGE:
            raise ScenarioError(f"{path} is larger than {_LARGEST_IMAGE:,} bytes; make it smaller")
        pictures[name] = path.read_bytes()
        if sum(map(len, pictures.values())) > _ALL_IMAGES:
            raise ScenarioError(f"the pictures of a runbook in {folder} are larger than {_ALL_IMAGES:,} bytes together")
    return pictures


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _ticket_files(scenario: ScenarioFolder, ticket: Mapping[str, Any], number: str) -> Files:
    title = ": ".join(filter(None, [number, as_line(ticket.get("title"))]))
    kinds = [as_line(each) for each in as_list(ticket.get("alert_types"))]
    body = "\n".join([f"<h1>{escape(title)}</h1>", *_facts(ticket), *_sections(ticket, kinds)])
    topics = [topic(scenario.scenario.name, TICKET), *kinds]
    is_plan = ticket.get("kind") == "maintenance"
    facts = {
        "document_type": MAINTENANCE if is_plan else INCIDENT,
        "upload_date": as_line(ticket.get("opened_at"))[:10],
    }
    return _article(scenario, title, body, topics, facts)


def _facts(ticket: Mapping[str, Any]) -> Iterator[str]:
    facts = {
        "Severity": ticket.get("severity"),
        "Opened": ticket.get("opened_at"),
        "Resolved": ticket.get("resolved_at"),
        "Affected": ", ".join(map(as_line, as_list(ticket.get("affected")))),
    }
    told = [f"{name}: {escape(as_line(value))}." for name, value in facts.items() if value not in (None, "")]
    if told:
        yield f"<p>{' '.join(told)}</p>"


def _sections(ticket: Mapping[str, Any], kinds: list[str]) -> Iterator[str]:
    cause = ticket.get("root_cause")
    fault = cause if isinstance(cause, dict) else {"fault": cause}
    element = " ".join(filter(None, [as_line(fault.get("type")), as_line(fault.get("id"))]))
    alerts = f"Alerts: {', '.join(kinds)}." if kinds else ""
    sections: dict[str, list[object]] = {
        SYMPTOMS: [ticket.get("symptoms"), alerts],
        DIAGNOSIS: [ticket.get("diagnosis")],
        ROOT_CAUSE: [": ".join(filter(None, [element, as_line(fault.get("fault"))]))],
        LESSONS: [ticket.get("lessons")],
    }
    for heading, paragraphs in sections.items():
        if heading == LESSONS:
            yield from _steps(ticket)
        said = [f"<p>{escape(line)}</p>" for each in paragraphs if (line := as_line(each))]
        if said:
            yield from (f"<h2>{heading}</h2>", *said)


def _steps(ticket: Mapping[str, Any]) -> Iterator[str]:
    steps = [f"<li>{escape(line)}</li>" for each in as_list(ticket.get("resolution")) if (line := as_line(each))]
    minutes = as_line(ticket.get("minutes_to_resolve"))
    if steps or minutes:
        yield f"<h2>{RESOLUTION}</h2>"
    if steps:
        yield f"<ol>{''.join(steps)}</ol>"
    if minutes:
        yield f"<p>Resolved in {escape(minutes)} minutes.</p>"


def as_list(value: object) -> list[Any]:
    """What a field of a ticket holds, which may be one value, several or nothing."""
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def as_line(value: object) -> str:
    """What a field of a ticket says, in one line."""
    return "" if value is None else " ".join(str(value).split())


def _article(
    scenario: ScenarioFolder, title: str, body: str, topics: list[str], facts: Mapping[str, str]
) -> dict[str, bytes]:
    readers = scenario.scenario.access_control_list
    metadata: dict[str, object] = {
        "title": title,
        "key_topics": list(dict.fromkeys(topics)),
        "access_control_list": readers,
    }
    metadata |= {name: value for name, value in facts.items() if value}
    page = f'<!doctype html>\n<html>\n<head><meta charset="utf-8"><title>{escape(title)}</title></head>\n<body>\n'
    return {  # who may read it comes first
        METADATA_FILE: (json.dumps(metadata, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace"),
        INDEX_FILE: f"{page}{body}\n</body>\n</html>\n".encode("utf-8", "replace"),
    }


def _write(root: Path, article_id: str, files: Files) -> bool:
    """Write an article's files, and say whether anything changed."""
    folder = root / article_id
    if _is_same(folder, files):
        return False
    if not folder.is_dir():  # hidden until it is whole
        arriving = root / f".{article_id}.new"
        _remove(arriving)
        for name, data in files.items():
            write_bytes(UPath(arriving / name), data)
        arriving.rename(folder)
        return True
    for name, data in files.items():
        if not _has(folder / name, data):
            write_bytes(UPath(folder / name), data)
    for name in _names(folder) - files.keys():
        (folder / name).unlink()
    return True


def _is_same(folder: Path, files: Files) -> bool:
    return _names(folder) == files.keys() and all(_has(folder / name, data) for name, data in files.items())


def _has(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and read_bytes(path) == data


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as exc:
        raise StorageError(f"{folder} cannot be removed: {exc.strerror}") from exc
