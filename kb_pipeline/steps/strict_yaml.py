"""YAML that people write, read so that no part of it is silently left out, and each value has one source."""

from collections.abc import Hashable, Iterable
from typing import Any

import yaml  # type: ignore[import-untyped]

from kb_pipeline.steps.strict_json import duplicate, finite, folded

_MOST_NESTED = 50
"""Brackets; with thousands, the reader takes minutes."""
_MERGE = "tag:yaml.org,2002:merge"


def strict_yaml(text: str | bytes) -> object:
    """What one document of YAML holds. Keys that differ only in how they are written, see
    :func:`~kb_pipeline.steps.strict_json.folded`, are one key.

    Raises:
        ValueError: it is no YAML, has a key twice, takes values from elsewhere, or holds a date or a number that cannot
            be; the message names the lines.
    """
    depth = deepest = 0
    for letter in text if isinstance(text, bytes) else text.encode("utf-8", "replace"):
        depth += (letter in b"[{") - (letter in b"]}")
        deepest = max(deepest, depth)
    if deepest > _MOST_NESTED:
        raise ValueError(f"it nests {deepest} brackets; at most {_MOST_NESTED} are read")
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, TypeError, RecursionError) as exc:
        raise ValueError(str(exc)[:1000]) from exc


def line_of(text: str | bytes, path: Iterable[str | int]) -> int:
    """The line, from 1, where a value stands that :func:`strict_yaml` has read; of the nearest one if it is missing."""
    node = yaml.compose(text, _Loader)
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = (node.value[step], node.value[step])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    construct_scalar = yaml.constructor.BaseConstructor.construct_scalar  # not the first "=" of a mapping

    def compose_node(self, parent: yaml.Node, index: object) -> yaml.Node:
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1
            raise ValueError(f"line {line} uses YAML aliases (*name), which are not read; write the values out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        places: dict[str, tuple[str, int]] = {}
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _MERGE:
                raise ValueError(f"line {line} merges other keys (<<), which are not read; write them out")
            key = str(self.construct_object(key_node, deep=True))
            if known := places.get(folded(key)):
                raise ValueError(duplicate(*known, key, line))
            places[folded(key)] = key, line
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        return finite(str(super().construct_yaml_float(node)))


for tag in ("omap", "pairs"):  # lists of keys, which may stand in them twice
    _Loader.add_constructor(f"tag:yaml.org,2002:{tag}", _Loader.construct_undefined)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
