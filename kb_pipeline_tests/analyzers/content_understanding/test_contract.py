"""Every request and every response is as Microsoft's contract says: Prism stands between and refuses all others."""

from collections.abc import Iterator

import httpx
import pytest

from kb_pipeline.analyzers.content_understanding.analyzer import ANALYZER_ID
from kb_pipeline.analyzers.content_understanding.deploy import AnalyzerLifecycle
from kb_pipeline.errors import ServiceRefusedError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.analyzers.content_understanding.material import MENU, PAGE, analyzer_of, convert, failing
from kb_pipeline_tests.content_understanding_service import (
    KEY,
    ContentUnderstandingService,
    content_understanding_service,
    contract,
)
from kb_pipeline_tests.prism import prism_proxy

pytestmark = pytest.mark.slow("builds a whole knowledge base")
VERSION = "api-version=2025-11-01"


@pytest.fixture(scope="module")
def behind_contract(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContentUnderstandingService]:
    with content_understanding_service(ready=False) as service:
        spec = contract(tmp_path_factory.mktemp("contract"))
        with prism_proxy(spec, service.url) as service.url:
            service.picture = MENU  # Prism reads bodies as text, so that an image does not arrive
            service.looks = 1
            yield service


@pytest.mark.slow("builds a whole knowledge base")
def test_the_life_of_defaults_and_analyzer(behind_contract: ContentUnderstandingService) -> None:
    behind_contract.defaults["gpt-4o"] = "stale"
    lifecycle = AnalyzerLifecycle(Settings(**behind_contract.settings()))
    assert lifecycle.status().problems
    assert lifecycle.deploy().created
    assert "gpt-4o" not in behind_contract.defaults
    assert lifecycle.status().problems == {}
    for digit in "1234":
        analyzer_id = f"kb_image_analyzer_{digit * 12}"
        behind_contract.analyzers[analyzer_id] = behind_contract.analyzers[ANALYZER_ID] | {"analyzerId": analyzer_id}
    assert len(lifecycle.deploy().removed) == 3
    assert len(lifecycle.delete()) == 2
    lifecycle.deploy()


def test_analyses(behind_contract: ContentUnderstandingService) -> None:
    AnalyzerLifecycle(Settings(**behind_contract.settings())).deploy()
    analyzer = analyzer_of(behind_contract)
    assert "[[IMG:menu.image]]" in convert(analyzer).markdown
    assert "Reset password" in analyzer.describe(MENU).ui_elements
    assert analyzer.check()


def test_a_failed_analysis(behind_contract: ContentUnderstandingService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind_contract, "spoil", failing("ResourceError", "no model deployment"))
    with pytest.raises(ServiceRefusedError, match="kb analyzers setup"):
        convert(analyzer_of(behind_contract))


@pytest.mark.parametrize(
    ("method", "path", "kind", "body"),
    [
        ("POST", "analyzers/prebuilt-documentSearch:analyzeBinary", "text/html", PAGE),  # which version of the API?
        ("PUT", f"analyzers/one?{VERSION}", "application/json", b'{"baseAnalyser": "prebuilt-image"}'),
        ("PATCH", f"defaults?{VERSION}", "application/merge-patch+json", b'{"modelDeployments": {"gpt-4.1": 5}}'),
    ],
)
def test_the_contract_refuses_what_is_not_in_it(
    behind_contract: ContentUnderstandingService, method: str, path: str, kind: str, body: bytes
) -> None:
    headers = {"ocp-apim-subscription-key": KEY, "content-type": kind}
    url = f"{behind_contract.url}/contentunderstanding/{path}"
    answer = httpx.request(method, url, content=body, headers=headers, timeout=30)
    assert answer.status_code == 422, answer.text
