"""Bicep files as data, read by the Bicep grammar of tree-sitter: what they declare, and what that refers to.

Not the Bicep compiler: types, functions and what Azure makes of it are not known here (types: see bicep_types.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bicep.language()))
_DEFINING = ("parameter_declaration", "variable_declaration", "resource_declaration", "module_declaration")


@dataclass(frozen=True)
class Expression:
    """A value that is known only when it is deployed."""

    text: str


@dataclass(frozen=True)
class Parameter:
    type: str
    required: bool
    decorators: tuple[str, ...]
    allowed: tuple[Any, ...]


@dataclass(frozen=True)
class Resource:
    """A resource, or one of an ``existing``, or of a loop; ``type`` is whole, also of one that stands in its parent."""

    symbol: str
    type: str
    version: str
    existing: bool
    body: dict[str, Any]
    line: int


@dataclass(frozen=True)
class Module:
    symbol: str
    path: str
    body: dict[str, Any]
    conditional: bool


@dataclass
class Template:
    path: Path
    scope: str = "resourceGroup"
    parameters: dict[str, Parameter] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    resources: list[Resource] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    """Names that are used and nowhere declared."""
    outputs_used: set[tuple[str, str]] = field(default_factory=set)
    """Module and output, of every ``module.outputs.name``."""


@lru_cache
def parse(path: Path) -> Template:
    """Read a file.

    Raises:
        SyntaxError: it is no Bicep; says where.
    """
    root = _PARSER.parse(path.read_bytes()).root_node
    for node in _all(root):
        if node.type == "ERROR" or node.is_missing:
            raise SyntaxError(f"{path.name}:{node.start_point[0] + 1}: {_text(node)[:60]!r}")
    template = Template(path)
    decorators: list[Node] = []
    for node in root.named_children:
        if node.type == "decorators":
            decorators = node.named_children
            continue
        _declare(template, node, decorators)
        decorators = []
    template.unknown = _unknown(root)
    template.outputs_used = {
        (_text(inner.named_children[0]), _text(node.named_children[1]))
        for node in _all(root)
        if node.type == "member_expression"
        and (inner := node.named_children[0]).type == "member_expression"
        and _text(inner.named_children[1]) == "outputs"
    }
    return template


def _declare(template: Template, node: Node, decorators: list[Node]) -> None:
    children = node.named_children
    if node.type == "target_scope_assignment":
        template.scope = _value(children[0])
    elif node.type == "parameter_declaration":
        called = [decorator.named_children[0] for decorator in decorators]
        names = [_text(call.named_children[0]) for call in called]
        allowed = [_value(call.named_children[1].named_children[0]) for call in called if _name(call) == "allowed"]
        template.parameters[_text(children[0])] = Parameter(
            _text(children[1]), len(children) == 2, tuple(names), tuple(allowed[0] if allowed else ())
        )
    elif node.type == "variable_declaration":
        template.variables[_text(children[0])] = _value(children[1])
    elif node.type == "resource_declaration":
        template.resources += _resources(node, None)
    elif node.type == "module_declaration":
        body, conditional = _body(children[2])
        template.modules[_text(children[0])] = Module(_text(children[0]), _value(children[1]), body, conditional)
    elif node.type == "output_declaration":
        template.outputs[_text(children[0])] = _value(children[2])


def _resources(node: Node, parent: Resource | None) -> Iterator[Resource]:
    """A resource and those that stand in it."""
    symbol, named, body = node.named_children
    kind, _, version = str(_value(named)).partition("@")
    if parent:
        kind, version = f"{parent.type}/{kind}", version or parent.version
    existing = any(child.type == "existing" for child in node.children)
    resource = Resource(_text(symbol), kind, version, existing, _body(body)[0], node.start_point[0] + 1)
    yield resource
    for inner in _object(body).named_children:
        if inner.named_children and inner.named_children[0].type == "resource_declaration":
            yield from _resources(inner.named_children[0], resource)


def _object(node: Node) -> Node:
    """The object of a declaration, behind a condition or a loop."""
    return node if node.type == "object" else _object(node.named_children[-1])


def _body(node: Node) -> tuple[dict[str, Any], bool]:
    return _value(_object(node)), node.type == "if_statement"


def _value(node: Node) -> Any:
    """Literals as Python has them, anything else as an expression."""
    if node.type == "object":
        pairs = [pair.named_children for pair in node.named_children if pair.type == "object_property"]
        return {_key(pair[0]): _value(pair[1]) for pair in pairs if len(pair) == 2}
    if node.type == "array":
        return [_value(item) for item in node.named_children if item.type != "comment"]
    if node.type == "string" and all(
        child.type in ("string_content", "escape_sequence") for child in node.named_children
    ):
        return _text(node)[1:-1].replace("\\'", "'")
    if node.type == "number":
        return int(_text(node))
    if node.type == "boolean":
        return _text(node) == "true"
    return Expression(_text(node))


def _key(node: Node) -> str:
    return _text(node)[1:-1] if node.type == "string" else _text(node)


_NAMESPACES = {"az", "sys"}
"""Of the language's own functions, where a declaration has the name of one."""


def _unknown(root: Node) -> set[str]:
    declared = {_text(node.named_children[0]) for node in _all(root) if node.type in _DEFINING}
    local = {
        _text(node.named_children[0]) for node in _all(root) if node.type in ("for_statement", "lambda_expression")
    }
    return (
        {_text(node) for node in _all(root) if node.type == "identifier" and _is_used(node)}
        - declared
        - local
        - _NAMESPACES
    )


def _is_used(node: Node) -> bool:
    """Whether an identifier stands for something declared: it is no key, no function, no declaration."""
    parent = node.parent
    assert parent is not None
    first = parent.named_children[0] == node
    if parent.type == "call_expression" or parent.type.endswith("_declaration"):
        return not first
    return not (parent.type == "object_property" and first)


def _name(call: Node) -> str:
    return _text(call.named_children[0])


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _all(child)
