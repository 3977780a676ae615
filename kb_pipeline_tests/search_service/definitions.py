"""What the service demands of the definition of an index, and of a change of it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Definition = dict[str, Any]
Field = Mapping[str, Any]

NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9])*")
_BUILT_IN_ANALYZERS = {"standard.lucene", "en.lucene", "en.microsoft", "keyword", "simple"}
_LONGEST_DESCRIPTION = 4000


class Refused(Exception):
    """The service does not do that: a status and the reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def check_name(name: str) -> None:
    if not NAME.fullmatch(name) or not 2 <= len(name) <= 128:
        raise Refused(400, f"Invalid name: '{name}'. It must only contain lowercase letters, digits or dashes")


def check_definition(definition: Definition, before: Definition | None) -> None:
    """Refuse what the service would refuse."""
    for problem in (*_problems(definition), *_changes(definition, before)):
        raise Refused(400, f"The request is invalid. Details: definition: {problem}")


def _problems(definition: Definition) -> Iterator[str]:
    fields = {field["name"]: field for field in definition["fields"]}
    vectors = definition.get("vectorSearch") or {}
    if len(fields) < len(definition["fields"]):
        yield "two fields with one name"
    keys = [field for field in fields.values() if field.get("key")]
    if len(keys) != 1 or keys[0]["type"] != "Edm.String" or keys[0].get("retrievable") is False:
        yield "there must be one key field, an Edm.String that is retrievable"
    if len(definition.get("description") or "") > _LONGEST_DESCRIPTION:
        yield "the description is too long"
    analyzers = {each["name"] for each in definition.get("analyzers") or []} | _BUILT_IN_ANALYZERS
    profiles = {each["name"] for each in vectors.get("profiles") or []}
    for name, field in fields.items():
        if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            yield f"the field name {name}"
        if field.get("analyzer") and (field["analyzer"] not in analyzers or not field.get("searchable")):
            yield f"the analyzer of {name}"
        if field.get("dimensions") and field.get("vectorSearchProfile") not in profiles:
            yield f"the vector profile of {name}"
        if field.get("sortable") and field["type"].startswith("Collection"):
            yield f"{name} is a collection and cannot be sorted by"
        if field.get("searchable") and "String" not in field["type"] and not field.get("dimensions"):
            yield f"{name} is no text and cannot be searched"
    yield from _vector_problems(vectors)
    yield from _semantic_problems(definition, fields)


def _vector_problems(vectors: Mapping[str, Any]) -> Iterator[str]:
    for profile in vectors.get("profiles") or []:
        for part, list_name in (
            ("algorithm", "algorithms"),
            ("compression", "compressions"),
            ("vectorizer", "vectorizers"),
        ):
            known = {each["name"] for each in vectors.get(list_name) or []}
            if profile.get(part) and profile[part] not in known:
                yield f"the {part} of the vector profile {profile['name']}"


def _semantic_problems(definition: Definition, fields: Mapping[str, Field]) -> Iterator[str]:
    for configuration in (definition.get("semantic") or {}).get("configurations") or []:
        chosen = configuration["prioritizedFields"]
        named = [chosen.get("titleField"), *(chosen.get("prioritizedContentFields") or [])]
        named += chosen.get("prioritizedKeywordsFields") or []
        for each in filter(None, named):
            if not fields.get(each["fieldName"], {}).get("searchable"):
                yield f"the semantic configuration names {each['fieldName']}, which is not searchable"


def _changes(definition: Definition, before: Definition | None) -> Iterator[str]:
    if before is None:
        return
    after = {field["name"]: field for field in definition["fields"]}
    for field in before["fields"]:
        if _meaning(after.get(field["name"])) != _meaning(field):
            yield f"the existing field {field['name']} cannot be changed"
    if (before.get("analyzers") or []) != (definition.get("analyzers") or []):
        yield "analyzers cannot be added without downtime"
    compressions = [(each.get("vectorSearch") or {}).get("compressions") or [] for each in (before, definition)]
    if compressions[0] != compressions[1]:
        yield "the compression of existing vectors cannot be changed"


def _meaning(field: Field | None) -> dict[str, Any] | None:
    return field and {name: value for name, value in field.items() if value not in (None, [])}
