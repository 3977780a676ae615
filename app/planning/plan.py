"""The plan for each kind of question: items with what must be true of their outcome, each after those it needs."""

from collections.abc import Iterable
from types import MappingProxyType

from app.planning.criteria import (
    AT_LEAST_ONE,
    EACH_HAS_A_SOURCE,
    EACH_HAS_ITS_PART,
    EXACTLY_ONE,
    FACT_IS_SAID,
    HAS_A_SUMMARY,
    SEVERAL,
    Criterion,
)
from app.schema.answers import Plan, PlanItem, QueryKind

MAX_ATTEMPTS = 3
"""How often an item is tried until its outcome meets its criterion."""

Step = tuple[str, Criterion]

_STEPS: MappingProxyType[QueryKind, tuple[Step, ...]] = MappingProxyType(
    {
        "LISTING": (
            ("The documents that meet all filters of the question", AT_LEAST_ONE),
            ("A table of them, in the order that was asked for", EACH_HAS_A_SOURCE),
        ),
        "METADATA_SEARCH": (
            ("The documents that the question is about", AT_LEAST_ONE),
            ("The facts that were asked for, of each of them", FACT_IS_SAID),
        ),
        "DOCUMENT_SUMMARY": (
            ("The documents that the question is about", AT_LEAST_ONE),
            ("The stored summary of each", HAS_A_SUMMARY),
            ("Its sentences, with their pages", EACH_HAS_A_SOURCE),
        ),
        "COMPARISON": (
            ("The documents that are compared", SEVERAL),
            ("What each of them says", AT_LEAST_ONE),
            ("The documents side by side", EACH_HAS_ITS_PART),
        ),
        "CONTENT_SEARCH": (
            ("The document that the question is about", EXACTLY_ONE),
            ("An answer from its passages", EACH_HAS_A_SOURCE),
        ),
    }
)


def plan_of(kind: QueryKind) -> Plan:
    """The plan for a question of this kind; all items are pending, and each depends on the one before it."""
    return checked(
        Plan(
            kind=kind,
            items=tuple(
                PlanItem(
                    position=position,
                    description=description,
                    acceptance_criteria=criterion.text,
                    dependencies=(position - 1,) if position > 1 else (),
                )
                for position, (description, criterion) in enumerate(_STEPS[kind], 1)
            ),
        )
    )


def criterion_of(kind: QueryKind, position: int) -> Criterion:
    """What must be true of the outcome of an item."""
    return _STEPS[kind][position - 1][1]


def checked(plan: Plan) -> Plan:
    """The plan, if it can be followed.

    Raises:
        ValueError: positions do not count from 1, or an item depends on one that is not before it.
    """
    for expected, item in enumerate(plan.items, 1):
        if item.position != expected:
            raise ValueError(f"item {expected} of the plan has position {item.position}; positions count from 1")
        late = [dependency for dependency in item.dependencies if not 1 <= dependency < expected]
        if late:
            raise ValueError(f"item {expected} of the plan depends on {_listed(late)}; only items before it can be")
    return plan


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
