"""The plan for each kind of question."""

from typing import get_args

import pytest

from app.answering.planning.plan import plan_of
from app.schema.answers import QueryKind


@pytest.mark.parametrize("kind", get_args(QueryKind))
def test_each_item_says_what_must_be_true_and_follows_the_one_before(kind: QueryKind) -> None:
    plan = plan_of(kind)
    assert [item.position for item in plan.items] == [*range(1, len(plan.items) + 1)]
    assert all(item.acceptance_criteria and item.status == "PENDING" for item in plan.items)
    assert [item.dependencies for item in plan.items] == [(), *((item.position - 1,) for item in plan.items[1:])]
