"""Holds every resource under ``infra/`` against Microsoft's own description of its type and API version.

Not part of the test run, because the descriptions are not in any package: check out github.com/Azure/bicep-types-az and

    python -m kb_pipeline_tests.deploy.bicep_types PATH/TO/bicep-types-az/generated

It says which properties do not exist, may not be set or are missing, and which literal values are not among the known.
"""

import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from kb_pipeline_tests.deploy.bicep import Expression, Resource, parse
from kb_pipeline_tests.deploy.files import TEMPLATES

_REQUIRED, _READ_ONLY, _DEPLOY_TIME = 1, 2, 4
_OURS = {"parent", "scope", "dependsOn"}
"""Properties of the language, not of the resource."""


class Types:
    """The types of one file of the collection."""

    def __init__(self, path: Path) -> None:
        self.all = _load(path)

    def at(self, reference: dict[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = self.all[int(reference["$ref"].rpartition("/")[2])]
        return found

    def problems(self, expected: dict[str, Any], value: Any, where: str) -> Iterator[str]:
        kind = expected["$type"]
        if isinstance(value, Expression) or kind == "AnyType":
            return
        if kind == "UnionType":
            yield from self._union(expected, value, where)
        elif kind == "DiscriminatedObjectType":
            yield from self._discriminated(expected, value, where)
        elif kind == "ObjectType":
            yield from self._object(expected, value, where)
        elif kind == "ArrayType":
            if not isinstance(value, list):
                yield f"{where}: {value!r} is no array"
            else:
                for at, item in enumerate(value):
                    yield from self.problems(self.at(expected["itemType"]), item, f"{where}[{at}]")
        else:
            yield from _scalar(expected, value, where)

    def _object(self, expected: dict[str, Any], value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no object"
            return
        properties, others = expected["properties"], expected.get("additionalProperties")
        for name, inner in value.items():
            known = properties.get(name)
            if known is None:
                if others:
                    yield from self.problems(self.at(others), inner, f"{where}.{name}")
                elif name not in _OURS:
                    yield f"{where}.{name}: there is no such property; known are {', '.join(sorted(properties))}"
            elif known.get("flags", 0) & _READ_ONLY and not known.get("flags", 0) & _DEPLOY_TIME:
                yield f"{where}.{name}: may not be set"
            else:
                yield from self.problems(self.at(known["type"]), inner, f"{where}.{name}")
        for name, known in properties.items():
            if known.get("flags", 0) & _REQUIRED and name not in value:
                yield f"{where}.{name}: is missing"

    def _union(self, expected: dict[str, Any], value: Any, where: str) -> Iterator[str]:
        elements = [self.at(element) for element in expected["elements"]]
        literals = [element["value"] for element in elements if element["$type"] == "StringLiteralType"]
        others = [element for element in elements if element["$type"] != "StringLiteralType"]
        if isinstance(value, str) and literals and value not in literals:
            yield f"{where}: {value!r} is not among {', '.join(literals)}"
        elif not isinstance(value, str) and others and all(list(self.problems(one, value, where)) for one in others):
            yield f"{where}: {value!r} fits none of the possible types"

    def _discriminated(self, expected: dict[str, Any], value: Any, where: str) -> Iterator[str]:
        by = expected["discriminator"]
        chosen = expected["elements"].get(value.get(by)) if isinstance(value, dict) else None
        if chosen is None:
            yield f"{where}.{by}: must be one of {', '.join(expected['elements'])}"
            return
        element = self.at(chosen)
        merged = {**expected["baseProperties"], **element["properties"]}
        yield from self._object({**element, "properties": merged}, value, where)


def _scalar(expected: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    wanted = {"StringType": str, "IntegerType": int, "BooleanType": bool, "StringLiteralType": str}[expected["$type"]]
    if type(value) is not wanted:
        yield f"{where}: {value!r} is no {wanted.__name__}"
    elif expected["$type"] == "StringLiteralType" and value != expected["value"]:
        yield f"{where}: must be {expected['value']!r}"


@lru_cache
def _load(path: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return loaded


def check(collection: Path, resource: Resource) -> Iterator[str]:
    """What is wrong with a resource."""
    namespace = resource.type.partition("/")[0].lower()
    for path in sorted(collection.glob(f"*/{namespace}/{resource.version}/types.json")):
        types = Types(path)
        for declared in types.all:
            name = f"{resource.type}@{resource.version}".lower()
            if declared["$type"] == "ResourceType" and declared["name"].lower() == name:
                yield from types.problems(types.at(declared["body"]), resource.body, resource.symbol)
                return
    yield f"{resource.symbol}: {resource.type}@{resource.version} is not in the collection"


def main(collection: Path) -> int:
    """Check all; prints what is wrong and how much was looked at."""
    checked = wrong = 0
    for template in map(parse, TEMPLATES):
        for resource in template.resources:
            checked += 1
            for problem in [] if resource.existing else check(collection, resource):
                wrong += 1
                sys.stdout.write(f"{template.path.name}:{resource.line}: {problem}\n")
    sys.stdout.write(f"{checked} resources, {wrong} problems\n")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
