"""A guess at what failed, and what it makes of the elements around. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kb_pipeline.network.topology import Numbers, Reach


@dataclass(frozen=True)
class Hypothesis:
    """Elements that failed, in the ways they did; ``ratio`` against noise. What it makes of the elements around.

    ``parts`` are those of its dependents that failed, if it failed in part, or what failed beside it with its site.
    """

    roots: tuple[int, ...]
    mode: str
    ratio: float
    onset: float
    reach: Reach = field(compare=False, repr=False)
    parts: tuple[int, ...] = ()

    @property
    def spreads(self) -> bool:
        """Whether what depends on it fails with it, wholly or in part; else it only suffers."""
        return self.mode in ("down", "in part", "site")

    @cached_property
    def failed(self) -> Mapping[int, int]:
        """What fails with the roots, with the number of edges to it."""
        if not self.spreads:  # nobody else fails: whoever depends on it may notice
            return dict.fromkeys(self.roots, 0)
        return dict(zip(self.reach.failed.tolist(), self.reach.failed_steps.tolist(), strict=True))

    @cached_property
    def weakened(self) -> Mapping[int, int]:
        """What has trouble because of the roots, with the number of edges to it."""
        weakened = dict(zip(self.reach.weakened.tolist(), self.reach.weakened_steps.tolist(), strict=True))
        if not self.spreads:
            roots = set(self.roots)
            steps = zip(self.reach.failed.tolist(), self.reach.failed_steps.tolist(), strict=True)
            weakened |= {vertex: step for vertex, step in steps if vertex not in roots}
        return weakened

    @property
    def is_special(self) -> bool:
        """Whether it failed in a way that is only asked for where it is worth it: in part, or with its site."""
        return self.mode in ("in part", "site")

    @property
    def touched(self) -> Numbers:
        """Everything that it explains: what alerts there, and what does not."""
        return np.concatenate((self.reach.failed, self.reach.weakened))
