"""What Dagster expects to be fresh, and what it measures by itself after something else."""

import dagster as dg
import pytest

from kb_pipeline.defs.automation import NIGHTLY, automation_sensor, expected_fresh
from kb_pipeline.defs.control_room import control_room
from kb_pipeline.defs.evaluation import answer_quality, retrieval_quality
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.settings import Settings


def with_policy(settings: Settings) -> set[str]:
    assets = expected_fresh([control_room(), retrieval_quality, answer_quality], settings)
    specs = [spec for asset in assets for spec in asset.specs]
    return {spec.key.to_user_string() for spec in specs if spec.freshness_policy == NIGHTLY}


def test_what_schedules_make_every_night_is_expected_every_night(settings: Settings) -> None:
    assert with_policy(settings.model_copy(update={"watch": True})) == {"index_state", "retrieval_quality"}


def test_nothing_is_expected_where_the_schedules_are_off(settings: Settings) -> None:
    assert with_policy(settings.model_copy(update={"watch": False})) == set()


def test_the_answers_are_measured_once_after_the_search_was_measured(instance: dg.DagsterInstance) -> None:
    defs = dg.Definitions(assets=[retrieval_quality, answer_quality], resources={"kb": KnowledgeBase()})
    first = dg.evaluate_automation_conditions(defs=defs, instance=instance)
    assert first.total_requested == 0  # nothing was measured yet
    instance.report_runless_asset_event(dg.AssetMaterialization("retrieval_quality"))
    second = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=first.cursor)
    assert second.get_num_requested(dg.AssetKey("answer_quality")) == second.total_requested == 1
    third = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=second.cursor)
    assert third.total_requested == 0


@pytest.mark.parametrize(
    ("environment", "status"),
    [({}, "RUNNING"), ({"KB_CHAT_MODEL": "gpt-4.1"}, "STOPPED"), ({"KB_APP_PORT": "no number"}, "STOPPED")],
    ids=["quotations", "a chat model", "settings that are wrong"],
)
def test_answers_that_may_be_paid_for_are_measured_only_if_somebody_turns_that_on(
    environment: dict[str, str], status: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sensor = automation_sensor(settings.model_copy(update={"watch": True}))
    assert sensor.default_status.value == status
