"""How failures spread, in plain code of the simulator's own: what is judged is not judged by itself."""

from collections.abc import Iterable

from kb_pipeline.network.topology import Topology


class Spreading:
    """The dependents of every vertex of a network, and which of its ways suffice each alone."""

    def __init__(self, network: Topology) -> None:
        source, target, is_any = network.edges
        self._dependents: list[list[tuple[int, bool]]] = [[] for _ in network.ids]
        self._ways = [0] * len(network.ids)
        for one, other, suffices in zip(source.tolist(), target.tolist(), is_any.tolist(), strict=True):
            self._dependents[other].append((one, suffices))
            self._ways[one] += suffices

    def failing_with(self, roots: Iterable[int], depth: int = 12) -> tuple[dict[int, int], dict[int, int]]:
        """What fails with the roots, and what only loses one of several ways; both with the number of edges to it."""
        failed = dict.fromkeys(roots, 0)
        lost: dict[int, int] = {}
        weakened: dict[int, int] = {}
        ring = list(failed)
        for distance in range(1, depth + 1):
            following: list[int] = []
            for vertex in ring:
                for dependent, suffices in self._dependents[vertex]:
                    if dependent in failed:
                        continue
                    if suffices:
                        lost[dependent] = lost.get(dependent, 0) + 1
                        if lost[dependent] < self._ways[dependent]:
                            weakened.setdefault(dependent, distance)
                            continue
                    failed[dependent] = distance
                    following.append(dependent)
            ring = following
        ring = [vertex for vertex in weakened if vertex not in failed]
        seen = set(ring)
        for distance in range(1, depth + 1):
            following = []
            for vertex in ring:
                for dependent, _ in self._dependents[vertex]:
                    if dependent not in seen:
                        seen.add(dependent)
                        following.append(dependent)
                        if dependent not in failed:
                            weakened.setdefault(dependent, distance + 1)
            ring = following
        return failed, {vertex: steps for vertex, steps in weakened.items() if vertex not in failed}
