"""What ``kb serve`` starts beside Dagster."""

import pytest

from app.application import AgentApplication
from kb_pipeline.settings import Settings


def test_service_and_page_have_a_port_each(settings: Settings) -> None:
    page, service = AgentApplication(settings).servers()
    assert (page.address[1], service.address[1]) == (8501, 8088)
    assert page.command[-3:] == ["app.page", "--port", "8501"]


def test_on_one_port_the_service_is_the_page(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_ONE_PORT", "true")
    (both,) = AgentApplication(settings).servers()
    assert (both.name, both.url, both.command[-1]) == ("Chat page and agent service", "http://127.0.0.1:8088", "app")
