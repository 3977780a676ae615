"""The documents of one index: checked when they come, shown when their time has come."""

import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kb_pipeline_tests.search_service.definitions import Definition, Field, Refused

Document = dict[str, Any]
_KEY = re.compile(r"(?!_)[A-Za-z0-9_=-]{1,1024}", re.ASCII)
_LONGEST_TERM = 32_766
_MOST = 1000
_TYPES: dict[str, type | tuple[type, ...]] = {
    "Edm.String": str,
    "Edm.Boolean": bool,
    "Edm.Int32": int,
    "Edm.Int64": int,
    "Edm.Double": (int, float),
    "Edm.Single": (int, float),
    "Edm.DateTimeOffset": str,
}


class Documents:
    """What was written and what is shown: ``delay`` seconds later, and ``step`` more for each document."""

    def __init__(self, definition: Definition) -> None:
        self.fields: dict[str, Field] = {field["name"]: field for field in definition["fields"]}
        self.key = next(name for name, field in self.fields.items() if field.get("key"))
        self.delay = self.step = 0.0
        self._written: dict[str, Document] = {}
        self._shown: dict[str, Document] = {}
        self._due: list[tuple[float, str, Document | None]] = []
        self._sorted: list[str] | None = None
        self._by_value: dict[str, dict[str, set[str]]] = {
            name: {} for name, field in self.fields.items() if field.get("filterable") and field["type"] == "Edm.String"
        }

    # --- writing ---------------------------------------------------------------------------------

    def check(self, actions: list[Document]) -> None:
        """Refuse the whole batch, as the service does."""
        if not actions or len(actions) > _MOST:
            raise Refused(400, f"The request has {len(actions)} actions; there must be 1 to {_MOST}")
        for action in actions:
            for name in action.keys() - {"@search.action"}:
                if name not in self.fields:
                    raise Refused(400, f"The property '{name}' does not exist on type 'search.documentFields'")
            if not _KEY.fullmatch(action.get(self.key) or ""):
                raise Refused(
                    400, f"Invalid document key: '{action.get(self.key)}'. Keys can only contain letters, ..."
                )

    def apply(self, action: Document) -> tuple[int, str | None]:
        """Write one document; its status and what is wrong with it."""
        kind = action.get("@search.action", "upload")
        document = {name: value for name, value in action.items() if name != "@search.action"}
        key = document[self.key]
        if kind == "delete":
            self._write(key, None)
            return 200, None
        if kind == "merge" and key not in self._written:
            return 404, "Document not found."
        if problem := next(self._problems(document), None):
            return 400, problem
        is_new = key not in self._written
        base = {} if kind == "upload" else self._written.get(key, {})
        nothing = {name: [] if field["type"].startswith("Coll") else None for name, field in self.fields.items()}
        self._write(key, {**nothing, **base, **self._stored(document)})
        return 201 if is_new else 200, None

    def _problems(self, document: Document) -> Iterator[str]:
        for name, value in document.items():
            field = self.fields[name]
            kind = field["type"].removeprefix("Collection(").removesuffix(")")
            many = field["type"].startswith("Collection")
            if many and not isinstance(value, list):
                yield f"{name} must be a collection"
                return
            if field.get("dimensions") and len(value) != field["dimensions"]:
                yield f"The vector field '{name}' expects {field['dimensions']} dimensions, not {len(value)}"
            for each in (value if many else [value])[:1] if field.get("dimensions") else value if many else [value]:
                if (many and each is None) or (each is not None and not isinstance(each, _TYPES[kind])):
                    yield f"{name} must be {field['type']}"
                elif isinstance(each, str) and self._is_term(field) and len(each.encode()) > _LONGEST_TERM:
                    yield f"Field '{name}' contains a term that is too large to process"

    @staticmethod
    def _is_term(field: Field) -> bool:
        return any(field.get(use) for use in ("key", "filterable", "sortable", "facetable"))

    def _stored(self, document: Document) -> Document:
        return {
            name: np.asarray(value, np.float32) if self.fields[name].get("dimensions") else value
            for name, value in document.items()
        }

    def _write(self, key: str, document: Document | None) -> None:
        if document is None:
            self._written.pop(key, None)
        else:
            self._written[key] = document
        last = self._due[-1][0] if self._due and self.step else 0.0
        self._due.append((max(time.monotonic() + self.delay, last) + self.step, key, document))

    # --- reading ---------------------------------------------------------------------------------

    @property
    def shown(self) -> Mapping[str, Document]:
        """The documents that queries find now."""
        now = time.monotonic()
        done = 0
        for due, key, document in self._due:
            if due > now:
                break
            self._show(key, document)
            done += 1
        del self._due[:done]
        return self._shown

    def having(self, field: str, values: frozenset[str]) -> list[str] | None:
        """Keys of the shown documents with one of the values; ``None`` where there is no quick way to tell."""
        if field not in self._by_value:
            return None
        return [key for value in values for key in self._by_value[field].get(value, ())]

    def keys_above(self, key: str) -> Iterator[str]:
        """Keys of the shown documents, in their order."""
        if self._sorted is None:
            self._sorted = sorted(self._shown)
        return iter(self._sorted[bisect_right(self._sorted, key) :])

    def _show(self, key: str, document: Document | None) -> None:
        before = self._shown.pop(key, None)
        for name, by_value in self._by_value.items():
            if before is not None:
                by_value[before[name]].discard(key)
            if document is not None:
                by_value.setdefault(document[name], set()).add(key)
        if document is not None:
            self._shown[key] = document
        if (before is None) != (document is None):
            self._sorted = None
