"""Files over HTTP: off until told, for those whom the settings name, and an article only when a reviewer accepts."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api import gate
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, signed_in

pytestmark = pytest.mark.slow("converts in a process of its own")

GUIDE = b"# Pump guide\n\n## Start\n\nTurn the red valve to the left before you start the pump.\n"
FILE = {"content-type": "application/octet-stream"}
ANN, BOB, EVE = signed_in("ann", "group-hr"), signed_in("bob", "group-hr"), signed_in("eve")


@pytest.fixture
def own(own: Settings, tmp_path: Path) -> Settings:
    """The knowledge base with an empty staging folder, into which everybody may hand in files."""
    (tmp_path / "staging").mkdir()
    changed = {"staging": str(tmp_path / "staging"), "uploaders": ("everybody",), "upload_bytes": 300_000}
    return own.model_copy(update=changed)


def sent(
    client: httpx.Client, data: bytes = GUIDE, headers: dict[str, str] | None = None, **said: object
) -> httpx.Response:
    params: Any = {"name": "pumps.md"} | said
    return client.post("/api/uploads", params=params, content=data, headers=FILE | (headers or {}))


def test_a_file_is_seen_by_a_reviewer_and_becomes_an_article_when_it_is_accepted(
    service: httpx.Client, own: Settings
) -> None:
    reply = sent(service, title="Pumps", reader=["hr"], topic=["valves", "pumps"])
    assert reply.status_code == 201, reply.text
    new = reply.json()
    assert (new["state"], new["description"], new["file"]) == ("pending", "Pumps", "pumps.md")
    assert "Turn the red valve" in new["content"]
    assert (new["upload"]["readers"], new["upload"]["size"]) == (["hr"], len(GUIDE))
    assert {check["problem"] for check in new["upload"]["checks"]} == {""}
    assert list(Path(own.staging).iterdir()) == []
    assert service.get("/api/contributions").json()["upload"]["most_bytes"] == 300_000
    assert ".pdf" in service.get("/api/contributions").json()["upload"]["endings"]


def test_accepted_it_is_staged_and_with_the_next_run_published(service: httpx.Client, own: Settings) -> None:
    path = f"/api/contributions/{sent(service, title='All about pumps').json()['id']}"
    accepted = service.post(f"{path}/accept", json={})
    assert accepted.status_code == 200, accepted.text
    assert (Path(own.staging) / "pumps" / "pumps.md").read_bytes() == GUIDE
    assert service.get(path).json()["published"] is False
    run = Run("11111111-2222-3333-4444-666666666666", "2026-01-02T00:00:00+00:00")
    publish(open_workspace(own), [build_article(own, "pumps", LAYER_NAMES, run)], LAYER_NAMES, run)
    assert service.get(path).json()["published"] is True
    assert service.get("/api/articles/pumps").json()["title"] == "All about pumps"


def test_it_is_off_until_told(serve: Serve, own: Settings) -> None:
    service = serve(own.model_copy(update={"uploaders": ()}))
    refused = sent(service)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_an_uploader")
    assert service.get("/api/contributions").json()["upload"] is None


def test_only_those_whom_the_settings_name_upload_and_only_its_readers_review_it(serve: Serve, own: Settings) -> None:
    named = own.model_copy(update={"uploaders": ("ann", "eve"), "reviewers": ("bob", "eve")})
    service = serve(named, easy_auth=True)
    assert sent(service, headers=BOB).status_code == 403
    new = sent(service, headers=ANN, reader=["group-hr"]).json()
    path = f"/api/contributions/{new['id']}"
    assert service.get(path, headers=EVE).status_code == 404
    assert new["id"] not in service.get("/api/contributions", headers=EVE).text
    assert service.get(path, headers=BOB).json()["may_accept"] is True
    own_file = sent(service, headers=EVE, service="other").json()
    refused = service.post(f"/api/contributions/{own_file['id']}/accept", json={}, headers=EVE)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "own_contribution")
    assert service.post(f"{path}/accept", json={}, headers=BOB).status_code == 200
    metadata = json.loads((Path(own.staging) / "pumps" / "metadata.json").read_text())
    assert metadata == {"access_control_list": ["group-hr"]}


def test_an_article_that_its_uploader_may_not_read_looks_like_a_name_that_there_is_not(
    serve: Serve, own: Settings
) -> None:
    secret = Path(own.staging) / "salaries"
    secret.mkdir()
    (secret / "index.md").write_text("# Salaries\n\nThe secret sum.\n")
    (secret / "metadata.json").write_text('{"access_control_list": ["group-hr"]}')
    service = serve(own.model_copy(update={"reviewers": ("bob", "eve")}), easy_auth=True)
    seen, free = (sent(service, headers=EVE, service=name).json() for name in ("salaries", "free"))
    varies = {"id", "service", "article_id", "diff", "contributed_at", "duplicates"}
    assert {key: seen[key] for key in seen.keys() - varies} == {key: free[key] for key in free.keys() - varies}
    assert seen["diff"].replace("salaries", "free") == free["diff"]
    assert sent(service, headers=ANN, service="salaries").status_code == 422
    refused = service.post(f"/api/contributions/{seen['id']}/accept", json={}, headers=BOB)
    assert (refused.status_code, "already" in refused.text) == (422, True)
    assert sorted(path.name for path in secret.iterdir()) == ["index.md", "metadata.json"]


def test_what_is_no_file_or_too_large_is_refused_before_it_is_read(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = service.post("/api/uploads", params={"name": "a.md"}, files={"file": GUIDE})
    assert (form.status_code, form.json()["error"]["code"]) == (415, "not_a_file")
    large = sent(service, b"x" * 300_001)
    assert (large.status_code, large.json()["error"]["code"]) == (413, "request_too_long")
    assert sent(service, b"").status_code == 422
    assert sent(service, name="../x.md").status_code == 422
    assert sent(service, name="").status_code == 422
    assert service.get("/api/uploads").status_code == 405
    monkeypatch.setattr(gate, "_UPLOADS_AT_ONCE", 0)
    assert sent(service).status_code == 503
