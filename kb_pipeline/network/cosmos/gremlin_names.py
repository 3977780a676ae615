"""Whether the labels and properties in a traversal are those of the network, and which were meant if not.

To a graph a wrong name is no mistake: nothing has it, and the answer is empty. Whoever asked would believe it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from kb_pipeline.errors import QueryFailedError
from kb_pipeline.network.cosmos.gremlin_gate import (
    HIDDEN,
    Argument,
    Call,
    Chain,
    PlainWord,
    QuotedText,
    chains,
    is_predicate,
)

_ALONG_EDGES = frozenset({"in", "out", "both", "inE", "outE", "bothE"})
_OF_PROPERTIES = frozenset({"values", "valueMap", "properties", "hasNot"})
_NAMING = frozenset({"as", "project", "aggregate", "store", "group", "groupCount", "tree"})
_WHOLE_VALUES = frozenset({"eq", "neq", "within", "without"})
_ELEMENT = frozenset({"id", "label"})


@dataclass(frozen=True)
class GraphNames:
    """What a network has: types of vertices (their labels), labels of edges, and properties of both."""

    types: Collection[str]
    edge_labels: Collection[str]
    properties: Collection[str]

    def check(self, traversal: Chain) -> None:
        """Refuse a traversal with a name that nothing has.

        Raises:
            QueryFailedError: there is one; the message names the nearest and all.
        """
        every = [call for chain in chains(traversal) if not is_predicate(chain) for call in chain.calls]
        own = {text for call in every if call.name in _NAMING for text in _texts(call.arguments)}
        for call in every:
            if call.name in _ALONG_EDGES:
                self._check_edge_labels(call)
            elif call.name == "hasLabel":
                self._check_labels(call.arguments)
            elif call.name == "has":
                self._check_has(call)
            elif call.name in _OF_PROPERTIES or call.name == "by":
                for name in _texts(call.arguments):
                    if name not in own:
                        self._check_property(name)

    def _check_has(self, call: Call) -> None:
        *label, key, value = call.arguments if len(call.arguments) > 1 else (*call.arguments, PlainWord("true"))
        self._check_labels(tuple(label))
        if key in (PlainWord("T.label"), PlainWord("label"), QuotedText("label")):
            self._check_labels((value,))
        elif isinstance(key, QuotedText):
            self._check_property(key.value)

    def _check_labels(self, arguments: tuple[Argument, ...]) -> None:
        for name in _texts(arguments):
            if name not in self.types and name not in self.edge_labels:
                raise QueryFailedError(
                    f"nothing has the label {name[:60]!r}; {_near(name, [*self.types, *self.edge_labels])}"
                    f"the types of vertices are {', '.join(self.types)}; the labels of edges are "
                    f"{', '.join(self.edge_labels)}"
                )

    def _check_edge_labels(self, call: Call) -> None:
        for name in _texts(call.arguments):
            if name not in self.edge_labels:
                vertices = f"{call.name[:4].removesuffix('E')}().hasLabel('{name}')"
                advice = f"{name} is a type of vertices, as in {vertices}; " if name in self.types else ""
                raise QueryFailedError(
                    f"no edge has the label {name[:60]!r}; {advice}{_near(name, self.edge_labels)}"
                    f"the labels of edges are {', '.join(self.edge_labels)}"
                )

    def _check_property(self, name: str) -> None:
        if name in _ELEMENT or name in self.properties:
            return
        shown = sorted(set(self.properties) - HIDDEN)
        advice = _near(name, shown)
        if name == "type":
            advice = "the type of a vertex is its label, as in hasLabel('…') or by(label); "
        raise QueryFailedError(
            f"nothing has the property {name[:60]!r}; {advice}the properties are id, label, {', '.join(shown)}"
        )


def _texts(arguments: tuple[Argument, ...]) -> Iterator[str]:
    """The texts among some arguments, also those that a predicate compares as a whole."""
    for argument in arguments:
        if isinstance(argument, QuotedText):
            yield argument.value
        elif isinstance(argument, Chain) and is_predicate(argument):
            for call in argument.calls:
                yield from _texts(call.arguments) if call.name in _WHOLE_VALUES else ()


def _near(name: str, names: Collection[str]) -> str:
    by_lower_case = {each.lower(): each for each in names}
    near = [by_lower_case[each] for each in get_close_matches(name.lower(), by_lower_case, 3)]
    return f"did you mean {', '.join(near)}? " if near else ""
