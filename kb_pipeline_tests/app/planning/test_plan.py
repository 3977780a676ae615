"""A plan can be followed: positions count from 1, and an item depends only on items before it."""

from typing import get_args

import pytest

from app.planning.plan import checked, criterion_of, plan_of
from app.schema.answers import Plan, PlanItem, QueryKind

KINDS: tuple[QueryKind, ...] = get_args(QueryKind)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_plan_that_can_be_followed(kind: QueryKind) -> None:
    plan = plan_of(kind)
    assert plan.kind == kind
    assert checked(plan) == plan
    assert [item.position for item in plan.items] == list(range(1, len(plan.items) + 1))
    for item in plan.items:
        assert item.status == "PENDING"
        assert item.description
        assert item.acceptance_criteria == criterion_of(kind, item.position).text


def item(position: int, *dependencies: int) -> PlanItem:
    return PlanItem(position=position, description="a", acceptance_criteria="b", dependencies=dependencies)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ((item(2),), "positions count from 1"),
        ((item(1, 1),), "depends on 1"),
        ((item(1, 2), item(2)), "depends on 2"),
        ((item(1), item(2, 0)), "depends on 0"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(items: tuple[PlanItem, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        checked(Plan(kind="LISTING", items=items))
