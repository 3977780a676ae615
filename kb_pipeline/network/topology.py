"""The network as arrays of integers, and walks on it: what an element needs, who needs it, and who fails with it.

A network of a million vertices takes some 300 MB and is built in seconds, so nothing here is an object per edge.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_FEW = 64
"""Up to this part of the vertices are few: they are sorted, where more are marked."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What fails with some elements, and what only loses one of several ways; both with the number of edges to it."""

    failed: Numbers
    failed_steps: Numbers
    weakened: Numbers
    weakened_steps: Numbers


class Topology:
    """Vertices are numbered in order of their ids, so that the same network gives the same numbers."""

    def __init__(self, vertices: pa.Table, edges: pa.Table) -> None:
        self.table = _ordered(vertices)
        self.id_column = self.table["id"].combine_chunks()
        self.ids: list[str] = self.id_column.to_pylist()
        self.type_names, self.type_codes = _encoded(self.table["type"])
        kind_names, kind_codes = _encoded(self.table["kind"])
        self.types: list[str] = [self.type_names[code] for code in self.type_codes.tolist()]
        self.kinds: list[str] = [kind_names[code] for code in kind_codes.tolist()]
        self.is_infrastructure = np.array([name == "infrastructure" for name in kind_names] + [False])[kind_codes]
        self.number: Mapping[str, int] = _NumberOfId(self.ids)
        source, target, label, is_any, self.label_names = self._edges(edges)
        size = len(self.ids)
        self._source, self._target, self._any = source, target, is_any
        self._up_start, self._up, self._label = _starts(source, size), target, label
        order = np.lexsort((source, target))
        self._down_start, self._down, self._down_any = _starts(target[order], size), source[order], is_any[order]
        self._alternatives = np.bincount(source[is_any], minlength=size)
        self._counted: dict[tuple[frozenset[str], int], tuple[Numbers, Numbers, Numbers]] = {}
        self.labels: Mapping[tuple[int, int], str] = _LabelOfEdge(self)

    def _edges(self, edges: pa.Table) -> tuple[Numbers, Numbers, Numbers, NDArray[np.bool_], list[str]]:
        """Edges between known vertices, once each, in order of source, target and label."""
        source, target = self.find(edges["source"]), self.find(edges["target"])
        names, label = _encoded(edges["label"])
        order = sorted(range(len(names)), key=lambda code: names[code])
        place = np.argsort(np.array(order, np.int64)) if names else np.zeros(1, np.int64)
        is_any = pc.fill_null(pc.equal(edges["needs"], "any"), fill_value=False).to_numpy().astype(bool)
        has_both_ends = (source >= 0) & (target >= 0)
        size, kinds = max(len(self.ids), 1), max(len(names), 1)
        keys = ((source * size + target) * kinds + place[label]) * 2 + is_any
        keys = np.sort(keys[has_both_ends])
        keys = keys[np.diff(keys, prepend=-1) != 0]
        pairs = keys // 2 // kinds
        sorted_names = [names[code] for code in order]
        return pairs // size, pairs % size, keys // 2 % kinds, (keys % 2).astype(bool), sorted_names

    @cached_property
    def names(self) -> list[str]:
        """The display names; empty where there is none."""
        return [name or "" for name in self.table["name"].to_pylist()]

    @cached_property
    def id_starts(self) -> frozenset[str]:
        """How ids begin, up to their first dash or underscore after letters."""
        starts = pc.extract_regex(self.id_column, r"^(?P<start>[A-Za-z]+[-_])")
        return frozenset(pc.unique(pc.struct_field(starts.drop_null(), "start")).to_pylist())

    @cached_property
    def _places(self) -> tuple[Numbers, Numbers, Numbers]:
        """The site of every element (−1: none), all elements in order of their sites, and where each site begins."""
        names, codes = _encoded(self.table["site"]) if "site" in self.table.column_names else ([], None)
        if codes is None or not names:
            return np.full(len(self.ids), -1), np.zeros(0, np.int64), np.zeros(1, np.int64)
        is_named = np.array([bool(name) for name in names])[codes] & self.table["site"].is_valid().to_numpy()
        codes = np.where(is_named, codes, -1)
        placed = np.flatnonzero(codes >= 0)
        placed = placed[np.argsort(codes[placed], kind="stable")]
        return codes, placed, _starts(codes[placed], len(names))

    def beside(self, vertex: int) -> Numbers:
        """What can fail and stands at the same site, itself included: it has the same value in the field ``site``."""
        site, placed, begins = self._places
        if site[vertex] < 0:
            return np.array([vertex], np.int64)
        there = placed[begins[site[vertex]] : begins[site[vertex] + 1]]
        can_fail: Numbers = there[self.is_infrastructure[there]]
        return can_fail

    @property
    def edges(self) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """Source and target of every edge, and whether the target is one of several ways."""
        return self._source, self._target, self._any

    @property
    def alternatives(self) -> Numbers:
        """For every vertex the number of its ways of which one suffices."""
        return self._alternatives

    def find(self, ids: pa.Array | pa.ChunkedArray) -> Numbers:
        """The numbers of ids, all at once; −1 for unknown ones."""
        texts = ids.cast(pa.string())
        encoded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
        if len(encoded.dictionary) * _FEW > len(self.ids):
            places = pc.index_in(encoded.dictionary, value_set=self.id_column)
            numbers = pc.fill_null(places, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        else:  # a table of the few is made faster than one of all ids
            places = pc.index_in(self.id_column, value_set=encoded.dictionary)
            here = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
            numbers = np.full(len(encoded.dictionary), -1, np.int64)
            numbers[places.take(pa.array(here)).to_numpy()] = here
        codes = pc.fill_null(encoded.indices, len(numbers)).to_numpy(zero_copy_only=False)
        everything: Numbers = np.append(numbers, -1)[codes]
        return everything

    def dependencies(self, vertex: int) -> list[int]:
        """What a vertex depends on directly."""
        return self._up[self._up_start[vertex] : self._up_start[vertex + 1]].tolist()  # type: ignore[no-any-return]

    def dependents(self, vertex: int) -> list[int]:
        """What depends on a vertex directly."""
        return self._down[self._down_start[vertex] : self._down_start[vertex + 1]].tolist()  # type: ignore[no-any-return]

    def dependency_counts(self) -> Numbers:
        """The number of direct dependencies of every vertex."""
        return np.diff(self._up_start)

    def every_dependency(self, vertices: Numbers) -> tuple[Numbers, Numbers]:
        """The direct dependencies of many vertices: the place of each vertex in the list, and what it depends on."""
        owner, place = _spread(self._up_start, vertices)
        return owner, self._up[place]

    def every_dependent(self, vertices: Numbers) -> tuple[Numbers, Numbers]:
        """What depends directly on many vertices: the place of each vertex in the list, and what depends on it."""
        owner, place = _spread(self._down_start, vertices)
        return owner, self._down[place]

    def upstream(self, vertex: int, depth: int) -> dict[int, int]:
        """Everything that a vertex depends on, itself included, with the number of edges to it."""
        return _as_dict(*self._walk([vertex], depth, up=True))

    def downstream(self, vertices: Iterable[int], depth: int) -> dict[int, int]:
        """Everything that depends on the vertices, themselves included, with the number of edges to it."""
        return _as_dict(*self._walk(vertices, depth, down=True))

    def around(self, vertices: Iterable[int], depth: int) -> dict[int, int]:
        """Everything within ``depth`` edges of the vertices, in either direction."""
        return _as_dict(*self._walk(vertices, depth, up=True, down=True))

    def above(self, vertices: Iterable[int] | Numbers, depth: int) -> Numbers:
        """Everything that any of the vertices depends on, themselves included, in order of numbers."""
        reached = self._walk(vertices, depth, up=True)[0]
        return _different(reached, len(self.ids))

    def count_dependents(self, marked: Numbers, depth: int) -> tuple[Numbers, Numbers, Numbers]:
        """How many of the marked elements depend on each element, counted by ways, so that two ways count twice.

        Returns:
            The elements that any marked one depends on, in order; how many depend on each fully; and how many have,
            on their way to it, another way that suffices.
        """
        above = self.above(marked, depth)
        place_of = np.full(len(self.ids), -1, np.int64)
        place_of[above] = np.arange(len(above))
        source, target = self.every_dependency(above)
        is_any = self._any[_spread(self._up_start, above)[1]]
        place = place_of[target]
        inside = place >= 0
        source, target, is_any = source[inside], place[inside], is_any[inside]
        soft = is_any & (self._alternatives[above[source]] > 1)
        size = len(above)
        failing: NDArray[np.float64] = np.zeros(size)
        weakened: NDArray[np.float64] = np.zeros(size)
        failing[place_of[marked]] = 1
        all_failing, all_weakened = np.zeros(size), np.zeros(size)
        for _ in range(depth):
            softly = np.bincount(target[soft], failing[source[soft]], size)
            weakened = (softly + np.bincount(target, weakened[source], size)).astype(np.float64)
            failing = np.bincount(target[~soft], failing[source[~soft]], size).astype(np.float64)
            all_failing += failing
            all_weakened += weakened
        return above, all_failing.astype(np.int64), all_weakened.astype(np.int64)

    def count_dependents_of_types(self, types: frozenset[str], depth: int) -> tuple[Numbers, Numbers, Numbers]:
        """As :meth:`count_dependents`, of all elements of some types; kept, as it is asked again and again."""
        key = (types, depth)
        if key not in self._counted:
            marked = np.array([name in types for name in self.type_names] + [False])[self.type_codes]
            self._counted = {key: self.count_dependents(np.flatnonzero(marked), depth)}
        return self._counted[key]

    def failing_with(self, roots: Iterable[int], depth: int) -> tuple[dict[int, int], dict[int, int]]:
        """What fails with the roots, and what only loses one of several ways; both with the number of edges to it."""
        reach = self.reach(roots, depth)
        return _as_dict(reach.failed, reach.failed_steps), _as_dict(reach.weakened, reach.weakened_steps)

    def reach(self, roots: Iterable[int], depth: int) -> Reach:
        """What fails with the roots, and what is weakened.

        An element whose alternatives have not all failed is weakened. What depends on a weakened element is weakened.
        """
        ring = np.unique(np.fromiter(roots, np.int64))
        has_failed = np.zeros(len(self.ids), bool)
        lost = np.zeros(len(self.ids), np.int32)
        has_failed[ring] = True
        failed, failed_steps = [ring], [np.zeros(len(ring), np.int64)]
        losing: list[Numbers] = []
        losing_steps: list[Numbers] = []
        for distance in range(1, depth + 1):
            _, places = _spread(self._down_start, ring)
            places = places[~has_failed[self._down[places]]]
            if not len(places):
                break
            dependents, is_any = self._down[places], self._down_any[places]
            some = dependents[is_any]
            np.add.at(lost, some, 1)
            some = np.unique(some)
            all_lost = lost[some] >= self._alternatives[some]
            ring = np.unique(np.concatenate((dependents[~is_any], some[all_lost])))
            has_failed[ring] = True
            failed.append(ring)
            failed_steps.append(np.full(len(ring), distance))
            losing.append(some)
            losing_steps.append(np.full(len(some), distance))
        weakened, steps = self._weakened(losing, losing_steps, has_failed, depth)
        return Reach(np.concatenate(failed), np.concatenate(failed_steps), weakened, steps)

    def _weakened(
        self, losing: list[Numbers], losing_steps: list[Numbers], has_failed: NDArray[np.bool_], depth: int
    ) -> tuple[Numbers, Numbers]:
        if not losing:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        first, place = np.unique(np.concatenate(losing), return_index=True)
        steps = np.concatenate(losing_steps)[place]
        first, steps = first[~has_failed[first]], steps[~has_failed[first]]
        behind, further = self._walk(first, depth, down=True)
        behind, further = behind[len(first) :], further[len(first) :] + 1
        lives = ~has_failed[behind]
        return np.concatenate((first, behind[lives])), np.concatenate((steps, further[lives]))

    def path(self, source: int, target: int, depth: int) -> list[int]:
        """A shortest way from a vertex along its dependencies to another; empty if there is none."""
        return self.paths([source], target, depth)[0]

    def paths(self, sources: Sequence[int], target: int, depth: int) -> list[list[int]]:
        """For each source a shortest way along its dependencies to the target; empty where there is none."""
        towards: dict[int, int] = {target: target}
        missing = set(sources) - {target}
        ring = np.array([target], np.int64)
        for _ in range(depth):
            if not missing or not len(ring):
                break
            owner, dependents = self.every_dependent(ring)
            following = []
            for dependent, before in zip(dependents.tolist(), ring[owner].tolist(), strict=True):
                if dependent not in towards:
                    towards[dependent] = before
                    following.append(dependent)
            missing.difference_update(following)
            ring = np.array(sorted(following), np.int64)
        return [_followed(source, target, towards) for source in sources]

    def properties(self, vertex: int) -> dict[str, object]:
        """The fields of a vertex that have a value."""
        return self.properties_of([vertex])[0]

    def properties_of(self, vertices: Sequence[int]) -> list[dict[str, object]]:
        """The fields of each vertex that have a value."""
        rows = self.table.take(pa.array(vertices, pa.int64())).to_pylist()
        return [{name: value for name, value in row.items() if value is not None} for row in rows]

    def numbers(self, ids: Sequence[str]) -> list[int]:
        """The numbers of those ids that are known."""
        return [self.number[each] for each in ids if each in self.number]

    def _walk(
        self, starts: Iterable[int] | Numbers, depth: int, *, up: bool = False, down: bool = False
    ) -> tuple[Numbers, Numbers]:
        """Vertices ring by ring, in order of numbers within a ring, with their distances."""
        given = np.asarray(starts if isinstance(starts, np.ndarray) else list(starts), np.int64)
        ring = _different(given, len(self.ids))
        seen = np.zeros(len(self.ids), bool)
        seen[ring] = True
        rings, steps = [ring], [np.zeros(len(ring), np.int64)]
        for distance in range(1, depth + 1):
            found = [self.every_dependency(ring)[1]] if up else []
            found += [self.every_dependent(ring)[1]] if down else []
            others = np.concatenate(found)
            ring = _different(others[~seen[others]], len(self.ids))
            if not len(ring):
                break
            seen[ring] = True
            rings.append(ring)
            steps.append(np.full(len(ring), distance))
        return np.concatenate(rings), np.concatenate(steps)


class _NumberOfId(Mapping[str, int]):
    """The number of an id, found by halving: a dictionary of a million ids would take 150 MB."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids

    def __getitem__(self, name: str) -> int:
        place = bisect_left(self._ids, name) if isinstance(name, str) else len(self._ids)
        if place < len(self._ids) and self._ids[place] == name:
            return place
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


class _LabelOfEdge(Mapping[tuple[int, int], str]):
    """The label of the edge between two vertices; the first in order where several join them."""

    def __init__(self, network: Topology) -> None:
        self._network = network
        source, target, _ = network.edges
        different = (np.diff(source) != 0) | (np.diff(target) != 0)
        self._first = np.flatnonzero(np.concatenate(([True], different))) if len(source) else np.zeros(0, np.int64)

    def __getitem__(self, pair: tuple[int, int]) -> str:
        source, target = pair
        starts, ends = self._network._up_start, self._network._up
        if not 0 <= source < len(starts) - 1:
            raise KeyError(pair)
        low, high = int(starts[source]), int(starts[source + 1])
        place = low + int(np.searchsorted(ends[low:high], target))
        if place == high or ends[place] != target:
            raise KeyError(pair)
        return self._network.label_names[int(self._network._label[place])]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        source, target, _ = self._network.edges
        return zip(source[self._first].tolist(), target[self._first].tolist(), strict=True)

    def __len__(self) -> int:
        return len(self._first)


def _ordered(vertices: pa.Table) -> pa.Table:
    known = vertices.filter(pc.is_valid(vertices["id"])) if vertices["id"].null_count else vertices
    text = known.set_column(known.column_names.index("id"), "id", known["id"].cast(pa.string()))
    return text.sort_by("id").combine_chunks()


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts of a column, and which each row has."""
    if pa.types.is_null(column.type):
        return [], np.zeros(len(column), np.int64)
    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    codes: NDArray[np.int64] = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes


def _starts(ordered: Numbers, size: int) -> Numbers:
    """Where the edges of each vertex begin, of edges in order of their vertices."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(ordered, minlength=size))))


def _spread(starts: Numbers, vertices: Numbers) -> tuple[Numbers, Numbers]:
    """The places of all edges of some vertices, and for each the place of its vertex in the list."""
    begin = starts[vertices]
    count = starts[vertices + 1] - begin
    owner = np.repeat(np.arange(len(vertices)), count)
    return owner, np.arange(len(owner)) + np.repeat(begin - np.cumsum(count) + count, count)


def _different(vertices: Numbers, size: int) -> Numbers:
    """The different ones, in order."""
    if len(vertices) * _FEW < size:
        return np.unique(vertices)
    is_one = np.zeros(size, bool)
    is_one[vertices] = True
    return np.flatnonzero(is_one)


def _followed(source: int, target: int, towards: Mapping[int, int]) -> list[int]:
    if source not in towards:
        return []
    way = [source]
    while way[-1] != target:
        way.append(towards[way[-1]])
    return way


def _as_dict(vertices: Numbers, steps: Numbers) -> dict[int, int]:
    return dict(zip(vertices.tolist(), steps.tolist(), strict=True))
