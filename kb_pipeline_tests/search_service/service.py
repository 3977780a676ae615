"""The service as a whole: indexes and aliases with their ETags, documents through an index's name or an alias."""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb_pipeline_tests.search_service.definitions import Definition, Refused, check_definition, check_name
from kb_pipeline_tests.search_service.documents import Document, Documents
from kb_pipeline_tests.search_service.querying import search

ETAG = "@odata.etag"
_MOST_BYTES = 16 * 1024 * 1024


@dataclass
class FakeSearchService:
    """All that a service knows. ``rejections``: by document key, statuses that it still has to answer."""

    vectorize: Callable[[str], Sequence[float]] = lambda _: ()
    delay: float = 0.0
    step: float = 0.0
    rejections: dict[str, list[int]] = field(default_factory=dict)
    indexes: dict[str, Definition] = field(default_factory=dict)
    aliases: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, Documents] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._etags = (f'"0x{number:X}"' for number in itertools.count(1))

    # --- definitions -----------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> dict[str, Any]:
        known: dict[str, dict[str, Any]] = getattr(self, kind)
        if kind == "indexes" and name in self.aliases:
            name = self.aliases[name]["indexes"][0]
        if name not in known:
            raise Refused(404, f"No {kind.removesuffix('es')} with the name '{name}' was found")
        return known[name]

    def put(self, kind: str, name: str, body: dict[str, Any], match: str | None, none_match: str | None) -> int:
        known: dict[str, dict[str, Any]] = getattr(self, kind)
        before = known.get(name)
        _check_condition(before, match, none_match)
        check_name(name)
        (self._check_index if kind == "indexes" else self._check_alias)(name, body)
        known[name] = {key: value for key, value in body.items() if key != ETAG} | {ETAG: next(self._etags)}
        if kind == "indexes":
            self._keep_documents(name, before)
        return 200 if before else 201

    def delete(self, kind: str, name: str, match: str | None) -> None:
        known: dict[str, dict[str, Any]] = getattr(self, kind)
        _check_condition(known.get(name), match, None)
        if kind == "indexes" and (named := [each for each, alias in self.aliases.items() if name in alias["indexes"]]):
            raise Refused(400, f"The aliases {named} must be deleted or mapped to another index first")
        if known.pop(name, None) is None:
            raise Refused(404, "")
        self.documents.pop(name, None)

    def _check_index(self, name: str, body: Definition) -> None:
        if name in self.aliases:
            raise Refused(400, f"There is an alias '{name}'")
        check_definition(body, self.indexes.get(name))

    def _check_alias(self, name: str, body: dict[str, Any]) -> None:
        if name in self.indexes:
            raise Refused(400, f"There is an index '{name}'")
        if len(body["indexes"]) != 1 or body["indexes"][0] not in self.indexes:
            raise Refused(400, f"The alias '{name}' must name one index that exists, not {body['indexes']}")

    def _keep_documents(self, name: str, before: Definition | None) -> None:
        if before is None:
            self.documents[name] = Documents(self.indexes[name])
        else:
            self.documents[name].fields.update({each["name"]: each for each in self.indexes[name]["fields"]})

    # --- documents -------------------------------------------------------------------------------

    def index(self, name: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Write a batch: all of it, or what can be."""
        documents = self._documents(name)
        if len(body) > _MOST_BYTES:
            raise Refused(413, "The request is too large")
        actions: list[Document] = json.loads(body)["value"]
        documents.check(actions)
        results = [self._apply(documents, action) for action in actions]
        return (200 if all(result["status"] for result in results) else 207), {"value": results}

    def search(self, name: str, request: dict[str, Any]) -> dict[str, Any]:
        documents = self._documents(name)
        return search(documents, self.get("indexes", name), request, self.vectorize)

    def count(self, name: str) -> int:
        return len(self._documents(name).shown)

    def document(self, name: str, key: str, select: Sequence[str]) -> Document:
        documents = self._documents(name)
        if key not in documents.shown:
            raise Refused(404, "")
        names = select or [each for each, known in documents.fields.items() if known.get("retrievable", True)]
        return {each: documents.shown[key][each] for each in names}

    def _documents(self, name: str) -> Documents:
        definition = self.get("indexes", name)
        documents = self.documents[definition["name"]]
        documents.delay, documents.step = self.delay, self.step
        return documents

    def _apply(self, documents: Documents, action: Document) -> dict[str, Any]:
        key = action[documents.key]
        waiting = self.rejections.get(key)
        status, problem = (waiting.pop(0), "not now") if waiting else documents.apply(action)
        return {"key": key, "status": problem is None, "statusCode": status, "errorMessage": problem}


def _check_condition(before: dict[str, Any] | None, match: str | None, none_match: str | None) -> None:
    if match and match != "*" and (before is None or before[ETAG] != match):
        raise Refused(
            412, "The precondition given in one of the request headers evaluated to false. No change was made"
        )
    if none_match == "*" and before is not None:
        raise Refused(
            412, "The precondition given in one of the request headers evaluated to false. No change was made"
        )
