"""The network as arrays of integers, and walks on it: what an element needs, who needs it, and who fails with it."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Adjacent = Callable[[int], list[int]]


class Topology:
    """Vertices are numbered in order of their ids, so that the same network gives the same numbers."""

    def __init__(self, vertices: pa.Table, edges: pa.Table) -> None:
        ordered = vertices.sort_by("id")
        self.ids: list[str] = ordered["id"].to_pylist()
        self.types: list[str] = ordered["type"].to_pylist()
        self.kinds: list[str] = ordered["kind"].to_pylist()
        self.names: list[str] = [name or "" for name in ordered["name"].to_pylist()]
        self.table = ordered
        self.number: dict[str, int] = {each: number for number, each in enumerate(self.ids)}
        self.labels: dict[tuple[int, int], str] = {}
        known = self.number
        pairs = [
            (known[source], known[target], label, needs == "any")
            for source, target, label, needs in zip(
                *(edges[name].to_pylist() for name in ("source", "target", "label", "needs")), strict=True
            )
            if source in known and target in known
        ]
        pairs = sorted(set(pairs))
        for source, target, label, _ in pairs:
            self.labels.setdefault((source, target), label)
        self._source = np.array([pair[0] for pair in pairs], np.int64)
        self._target = np.array([pair[1] for pair in pairs], np.int64)
        self._any = np.array([pair[3] for pair in pairs], bool)
        self._up_start, self._up, self._up_any = self._adjacent(self._source, self._target)
        self._down_start, self._down, self._down_any = self._adjacent(self._target, self._source)
        self._alternatives = np.bincount(self._source[self._any], minlength=len(self.ids))

    def _adjacent(self, start: Numbers, end: Numbers) -> tuple[list[int], list[int], list[bool]]:
        order = np.lexsort((end, start))
        counts = np.bincount(start, minlength=len(self.ids)) if len(start) else np.zeros(len(self.ids), np.int64)
        starts = np.concatenate(([0], np.cumsum(counts)))
        return starts.tolist(), end[order].tolist(), self._any[order].tolist()

    def dependencies(self, vertex: int) -> list[int]:
        """What a vertex depends on directly."""
        return self._up[self._up_start[vertex] : self._up_start[vertex + 1]]

    def dependents(self, vertex: int) -> list[int]:
        """What depends on a vertex directly."""
        return self._down[self._down_start[vertex] : self._down_start[vertex + 1]]

    def dependency_counts(self) -> Numbers:
        """The number of direct dependencies of every vertex."""
        starts = np.array(self._up_start, np.int64)
        return starts[1:] - starts[:-1]

    def upstream(self, vertex: int, depth: int) -> dict[int, int]:
        """Everything that a vertex depends on, itself included, with the number of edges to it."""
        return self._walk([vertex], depth, self.dependencies)

    def downstream(self, vertices: Iterable[int], depth: int) -> dict[int, int]:
        """Everything that depends on the vertices, themselves included, with the number of edges to it."""
        return self._walk(vertices, depth, self.dependents)

    def around(self, vertices: Iterable[int], depth: int) -> dict[int, int]:
        """Everything within ``depth`` edges of the vertices, in either direction."""
        return self._walk(vertices, depth, lambda vertex: [*self.dependencies(vertex), *self.dependents(vertex)])

    def failing_with(self, roots: Iterable[int], depth: int) -> tuple[dict[int, int], dict[int, int]]:
        """What fails with the roots, and what only loses one of several ways; both with the number of edges to it.

        An element whose alternatives have not all failed is weakened. What depends on a weakened element is weakened.
        """
        failed = dict.fromkeys(roots, 0)
        lost: dict[int, int] = {}
        weakened: dict[int, int] = {}
        ring = list(failed)
        for distance in range(1, depth + 1):
            following: list[int] = []
            for vertex in ring:
                for place in range(self._down_start[vertex], self._down_start[vertex + 1]):
                    dependent = self._down[place]
                    if dependent in failed:
                        continue
                    if self._down_any[place]:
                        lost[dependent] = lost.get(dependent, 0) + 1
                        if lost[dependent] < self._alternatives[dependent]:
                            weakened.setdefault(dependent, distance)
                            continue
                    failed[dependent] = distance
                    following.append(dependent)
            ring = following
        start = {vertex: distance for vertex, distance in weakened.items() if vertex not in failed}
        for vertex, steps in self._walk(start, depth, self.dependents).items():
            if vertex not in failed:
                weakened.setdefault(vertex, steps + 1)
        return failed, {vertex: steps for vertex, steps in weakened.items() if vertex not in failed}

    def path(self, source: int, target: int, depth: int) -> list[int]:
        """A shortest way from a vertex along its dependencies to another; empty if there is none."""
        before: dict[int, int] = {source: source}
        ring = [source]
        for _ in range(depth):
            following = []
            for vertex in ring:
                for dependency in self.dependencies(vertex):
                    if dependency not in before:
                        before[dependency] = vertex
                        following.append(dependency)
            if target in before:
                break
            ring = following
        if target not in before:
            return []
        way = [target]
        while way[-1] != source:
            way.append(before[way[-1]])
        return way[::-1]

    def properties(self, vertex: int) -> dict[str, object]:
        """The fields of a vertex that have a value."""
        row = self.table.slice(vertex, 1).to_pylist()[0]
        return {name: value for name, value in row.items() if value is not None}

    def numbers(self, ids: Sequence[str]) -> list[int]:
        """The numbers of those ids that are known."""
        return [self.number[each] for each in ids if each in self.number]

    @staticmethod
    def _walk(starts: Iterable[int], depth: int, adjacent: Adjacent) -> dict[int, int]:
        found = dict.fromkeys(starts, 0)
        ring = list(found)
        for distance in range(1, depth + 1):
            following = []
            for vertex in ring:
                for other in adjacent(vertex):
                    if other not in found:
                        found[other] = distance
                        following.append(other)
            ring = following
        return found
