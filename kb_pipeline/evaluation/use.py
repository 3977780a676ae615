"""How answers were used: counts alone, without a word of who asked or of what was asked.

Counting is the task of the application, see :mod:`kb_pipeline.application`.
"""

from pydantic import Field

from kb_pipeline.records import Record, Scalar


class UseTally(Record):
    """How often something happened, and how often it went well."""

    times: int = 0
    well: int = 0


class AnswerUse(Record):
    """How the answers of a time were used.

    ``sources``: sections that answers cite, and those of them that a reader opened. ``options``: questions that were
    asked back, and those of them that were answered by a choice. ``plans`` by kind, and those whose every step held;
    ``tools`` by name, and the calls without an error.
    """

    answers: int = 0
    refused: int = 0
    closest: int = 0
    sources: UseTally = UseTally()
    options: UseTally = UseTally()
    plans: dict[str, UseTally] = Field(default_factory=dict)
    tools: dict[str, UseTally] = Field(default_factory=dict)

    def rows(self) -> list[dict[str, Scalar]]:
        """The counts as the rows of a table; what never happened has none."""
        counted = {
            "answers that answer": UseTally(times=self.answers, well=self.answers - self.refused - self.closest),
            "sources that were opened": self.sources,
            "questions asked back that were answered by a choice": self.options,
            **{f"plans that succeeded: {name}": tally for name, tally in sorted(self.plans.items())},
            **{f"calls that succeeded: {name}": tally for name, tally in sorted(self.tools.items())},
        }
        return [{"what": what, "times": each.well, "of": each.times} for what, each in counted.items() if each.times]
