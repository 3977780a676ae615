"""The names of one knowledge base in Dagster, so that a project may hold several side by side."""

from dataclasses import dataclass

import dagster as dg


@dataclass(frozen=True)
class Namespace:
    """Names of assets, partitions, jobs and resources: with ``name`` before them, or as they are if it is empty."""

    name: str = ""

    def of(self, word: str) -> str:
        """The word as a name of this knowledge base."""
        return f"{self.name}_{word}" if self.name else word

    def asset(self, name: str) -> dg.AssetKey:
        """The key of a layer or of another asset."""
        return dg.AssetKey([self.name, name] if self.name else [name])

    @property
    def partitions(self) -> dg.DynamicPartitionsDefinition:
        """The articles."""
        return dg.DynamicPartitionsDefinition(name=self.articles)

    @property
    def articles(self) -> str:
        """The name of the partitions."""
        return self.of("articles")


PLAIN = Namespace()
"""The code location of this package itself."""
