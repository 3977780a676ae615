"""The plan for each kind of question: items with what must be true of their outcome, each after the one before it."""

from types import MappingProxyType

from app.schema.answers import Plan, PlanItem, QueryKind

_A_SOURCE = "Each statement has a source"
_STEPS: MappingProxyType[QueryKind, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "LISTING": (
            ("The documents that meet all filters of the question", "At least one document"),
            ("A table of them, in the order that was asked for", _A_SOURCE),
        ),
        "METADATA_SEARCH": (
            ("The documents that the question is about", "At least one document"),
            ("The facts that were asked for, of each of them", "Each document has its sentence with a source"),
        ),
        "DOCUMENT_SUMMARY": (
            ("The documents that the question is about", "At least one document"),
            ("The stored summary of each", "Each document has a summary"),
            ("Its sentences, with their pages", _A_SOURCE),
        ),
        "COMPARISON": (
            ("The documents that are compared", "Two to seven documents"),
            ("What each of them says", "At least one document"),
            ("The documents side by side", "Each document has a part with its own source, or is said to have none"),
        ),
        "CONTENT_SEARCH": (
            ("The document that the question is about", "Exactly one document"),
            ("An answer from its passages", _A_SOURCE),
        ),
    }
)


def plan_of(kind: QueryKind) -> Plan:
    """The plan for a question of this kind; all items are pending, and each depends on the one before it."""
    items = (
        PlanItem(
            position=position,
            description=description,
            acceptance_criteria=criterion,
            dependencies=(position - 1,) if position > 1 else (),
        )
        for position, (description, criterion) in enumerate(_STEPS[kind], 1)
    )
    return Plan(kind=kind, items=tuple(items))
