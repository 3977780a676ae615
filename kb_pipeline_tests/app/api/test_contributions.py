"""Contributions over HTTP: everybody proposes, only reviewers decide, and nobody is told what they may not read."""

import re
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.callers.principal import Principal
from app.contributing import contributing
from app.contributing.contributing import Caller, Contributing
from app.schema.answers import ChatAnswer
from app.schema.contributions import ContributionDetails, NewContribution
from app.schema.conversations import Feedback
from app.service import AgentService
from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.errors import ContributionNotFoundError, StorageError
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.grounding.passages import citation
from kb_pipeline_tests.contributions.conftest import contribution

NEW = {"service": "layers", "description": "Cropping", "content": "Crop to Content, to crop a layer to what it shows."}
ANN, BOB, HR = signed_in("ann"), signed_in("bob"), signed_in("eve", "group-hr")


@pytest.fixture
def own(own: Settings, tmp_path: Path) -> Settings:
    """A copy of the knowledge base with a staging folder that may be written to."""
    shutil.copytree(own.staging, tmp_path / "staging")
    return own.model_copy(update={"staging": str(tmp_path / "staging")})


def handed_in(client: httpx.Client, headers: dict[str, str] | None = None, **changed: object) -> dict[str, Any]:
    reply = client.post("/api/contributions", json=NEW | changed, headers=headers)
    assert reply.status_code == 201, reply.text
    document: dict[str, Any] = reply.json()
    return document


def staged(own: Settings) -> list[str]:
    return sorted(path.name for path in Path(own.staging).iterdir())


def test_the_local_user_proposes_and_accepts(service: httpx.Client, own: Settings) -> None:
    new = handed_in(service)
    assert (new["state"], new["article_id"], new["section"]) == ("pending", "layers-notes", "Common Pitfalls")
    assert new["nearest"][0]["section"] == "Crop a layer"
    assert "+### Cropping\n" in new["diff"]
    assert "embedding" not in new
    accepted = service.post(f"/api/contributions/{new['id']}/accept", json={"section": "Limits", "content": "Better."})
    assert accepted.status_code == 200, accepted.text
    assert (accepted.json()["state"], accepted.json()["section"]) == ("accepted", "Limits")
    text = (Path(own.staging) / "layers-notes" / "index.md").read_text()
    assert "## Limits\n\n### Cropping\n\nBetter.\n" in text
    again = service.post(f"/api/contributions/{new['id']}/accept", json={})
    assert again.status_code == 200
    assert (Path(own.staging) / "layers-notes" / "index.md").read_text() == text


def test_checking_contributions_holds_up_nobody_else(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributing, "_AT_ONCE", 1)
    monkeypatch.setattr(contributing, "_MOST_WAITING", 0)
    begun, let_go = threading.Event(), threading.Event()
    propose = Contributing.propose

    def slow(self: Contributing, new: NewContribution, caller: Caller) -> ContributionDetails:
        begun.set()
        let_go.wait()
        return propose(self, new, caller)

    monkeypatch.setattr(Contributing, "propose", slow)
    service = serve()
    with ThreadPoolExecutor(1) as stranger:
        draft = stranger.submit(handed_in, service, draft=True)
        begun.wait()
        refused = service.post("/api/contributions", json=NEW | {"draft": True})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "busy checking contributions" in refused.text
        assert service.get("/health").json()["status"] == "ok"
        assert service.get("/api/articles").status_code == 200
        let_go.set()
        assert draft.result()["state"] == "pending"


def test_a_draft_is_only_checked(service: httpx.Client, own: Settings) -> None:
    handed_in(service, draft=True)
    assert not (Path(own.home) / "contributions").exists()
    handed_in(service)
    assert [each["similarity"] for each in handed_in(service, draft=True)["duplicates"]] == [1.0]


@pytest.mark.slow("converts in a process of its own")
def test_of_a_draft_one_may_see_what_readers_will_see(service: httpx.Client, own: Settings) -> None:
    draft = handed_in(service, draft=True, converted=True, type="Answer", content="It is *hidden*.")
    assert draft["seen_by_readers"] == f"### {draft['description']}\n\nIt is *hidden*."
    assert "seen_by_readers" not in handed_in(service, draft=True)
    assert not (Path(own.home) / "contributions").exists()


def test_the_list_has_states_and_counts(service: httpx.Client) -> None:
    first, second = handed_in(service), handed_in(service, description="Undoing", content="Press Ctrl+Z.")
    rejected = service.post(f"/api/contributions/{second['id']}/reject", json={"reason": "known"}).json()
    assert (rejected["state"], rejected["reason"], rejected["decided_by"]) == ("rejected", "known", "local")
    listed = service.get("/api/contributions", params={"state": "pending"}).json()
    assert (listed["total"], [each["id"] for each in listed["contributions"]]) == (1, [first["id"]])
    assert (listed["counts"], listed["may_review"]) == ({"pending": 1, "accepted": 0, "rejected": 1}, True)
    reply = service.post(f"/api/contributions/{second['id']}/accept", json={})
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "already_decided")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"type": "Bug"}, "must be one of: Pitfall"),
        ({"service": "../etc"}, "cannot be an article id"),
        ({"description": ""}, "description is empty"),
        ({"content": "![x](y.png)"}, "shows the image"),
        ({"service": "layers", "type": "New service"}, "is empty"),
    ],
)
def test_what_is_wrong_is_refused_with_what_is_right(
    service: httpx.Client, own: Settings, wrong: dict[str, str], problem: str
) -> None:
    body = NEW | wrong | ({"content": ""} if problem == "is empty" else {})
    reply = service.post("/api/contributions", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_contribution")
    assert problem in reply.json()["error"]["message"]
    assert not (Path(own.home) / "contributions").exists()


def test_only_reviewers_decide_and_others_see_their_own(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"reviewers": ("bob",)}), easy_auth=True)
    new = handed_in(client, ANN)
    path = f"/api/contributions/{new['id']}"
    assert client.get(path, headers=ANN).json()["may_review"] is False
    for decision, body in (("accept", {}), ("reject", {"reason": "x"})):
        reply = client.post(f"{path}/{decision}", json=body, headers=ANN)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "not_a_reviewer")
        assert client.post(f"{path}/{decision}", json=body, headers=HR).status_code == 404
    assert client.get("/api/contributions", headers=HR).json()["total"] == 0
    assert client.get("/api/contributions", headers=BOB).json()["total"] == 1
    assert staged(own) == ["hostile", "layers", "printing", "secret"]
    assert client.post(f"{path}/accept", json={}, headers=BOB).json()["decided_by"] == "bob"
    assert "layers-notes" in staged(own)


def test_without_reviewers_nobody_decides_where_others_can_ask(serve: Serve, own: Settings) -> None:
    signed = serve(own, easy_auth=True)
    new = handed_in(signed, ANN)
    for who, status in ((ANN, 403), (signed_in("local"), 401)):  # nobody who signs in is the user of this machine
        assert signed.post(f"/api/contributions/{new['id']}/accept", json={}, headers=who).status_code == status
    reachable = serve(own, app_host="0.0.0.0")
    new = handed_in(reachable)
    assert reachable.post(f"/api/contributions/{new['id']}/accept", json={}).status_code == 403
    assert "layers-notes" not in staged(own)


def test_what_one_may_not_read_is_not_told(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"reviewers": ("bob", "group-hr")}), easy_auth=True)
    text = "The salary of the director is 12345."
    by_ann = handed_in(client, ANN, service="secret", description="Salaries", content=text, type="New service")
    assert "secret" not in [each["article_id"] for each in by_ann["nearest"]]
    assert client.get(f"/api/contributions/{by_ann['id']}", headers=BOB).status_code == 404
    assert client.post(f"/api/contributions/{by_ann['id']}/accept", json={}, headers=BOB).status_code == 404
    by_hr = handed_in(client, HR, service="secret", description="Table of salaries", content=text)
    assert by_hr["article_id"] == "secret-notes"
    assert "secret" in [each["article_id"] for each in by_hr["nearest"]]
    assert client.get("/api/contributions", headers=BOB).json()["total"] == 0
    other_hr = signed_in("dan", "group-hr")
    assert client.post(f"/api/contributions/{by_hr['id']}/accept", json={}, headers=other_hr).status_code == 200
    metadata = (Path(own.staging) / "secret-notes" / "metadata.json").read_text()
    assert "group-hr" in metadata


RESTRICTED = {"secret": "no-such", "secret-notes": "no-such-notes", "salaries.pdf": "no-such.pdf"}
RESTRICTED |= {"removed": "nothing", "unreadable": "misspelt"}
"""Articles that only group-hr may read, or nobody, each with an id like it that there is not."""


@pytest.fixture
def restricting(own: Settings) -> Settings:
    """A knowledge base with each of :data:`RESTRICTED`."""
    staging = Path(own.staging)
    for name, files in {
        "secret-notes": {"index.md": "# Secret", "metadata.json": '{"access_control_list": ["group-hr"]}'},
        "unreadable": {"index.md": "# Unreadable", "metadata.json": "{"},
        "": {"salaries.pdf": "%PDF-", "salaries.pdf.metadata.json": '{"access_control_list": ["group-hr"]}'},
    }.items():
        (staging / name).mkdir(exist_ok=True)
        for file, text in files.items():
            (staging / name / file).write_text(text)
    AccessLists(Layout.of(own)).record("removed", Access(readers=("group-hr",)), pending=False)
    return own


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("reviewers", [(), ("bob",)])
def test_what_one_may_not_read_is_proposed_to_like_what_there_is_not(
    serve: Serve, restricting: Settings, reviewers: tuple[str, ...]
) -> None:
    client = serve(restricting.model_copy(update={"reviewers": reviewers}), easy_auth=True)
    proposals: tuple[dict[str, object], ...] = (
        {"draft": True},
        {"type": "New service", "draft": True},
        {"content": "The salary of the director is 12345.", "section": "Tools"},
    )
    for restricted, unknown in RESTRICTED.items():
        told = []
        for service in (restricted, unknown):
            for proposal in proposals:
                reply = client.post("/api/contributions", json=NEW | proposal | {"service": service}, headers=BOB)
                assert reply.status_code == 201, reply.text
                assert f"+++ b/{service}/index.md" in reply.json()["diff"]
                contribution_id = str(reply.json()["id"])
                path = f"/api/contributions/{contribution_id}"
                seen = [reply, client.get(path, headers=BOB)]
            listed = client.get("/api/contributions", headers=BOB).json()["contributions"]
            seen.append(client.post(f"{path}/accept", json={}, headers=BOB))
            seen.append(client.post(f"{path}/reject", json={"reason": "mine"}, headers=BOB))
            shown = [next(each for each in listed if each["id"] == contribution_id)]
            shown += [[each.status_code, each.json() | {"duplicates": []}] for each in seen]
            same = str(shown).replace(contribution_id, "ID").replace(service, "SERVICE")
            told.append(re.sub(r"\d{4}-\d\d-\d\dT[\d:]+", "AT", same))
        assert told[0] == told[1]


def test_notes_that_one_may_not_read_are_like_notes_that_there_are_not(serve: Serve, own: Settings) -> None:
    client = serve(own, easy_auth=True)
    before = handed_in(client, ANN, draft=True)
    notes = Path(own.staging) / "layers-notes"
    notes.mkdir()
    (notes / "index.md").write_text("# Layers: notes\n\n## Common Pitfalls\n\nSalary 12345.\n")
    (notes / "metadata.json").write_text('{"access_control_list": ["group-hr"]}')
    after = handed_in(client, ANN, draft=True)
    assert (after["article_id"], after["section"], after["diff"].split("(contribution")[0]) == (
        (before["article_id"], before["section"], before["diff"].split("(contribution")[0])
    )
    assert "12345" in handed_in(client, HR, draft=True)["diff"]


@pytest.mark.slow("builds a whole knowledge base")
def test_nobody_accepts_what_they_proposed_or_may_not_read_unless_they_are_told_to(
    serve: Serve, restricting: Settings
) -> None:
    reviewed = restricting.model_copy(update={"reviewers": ("bob", "ann")})
    client = serve(reviewed, easy_auth=True)
    new = handed_in(client, signed_in("bob"))
    path = f"/api/contributions/{new['id']}"
    assert (new["may_review"], new["may_accept"]) == (True, False)
    for who in (BOB, signed_in("BOB")):  # another spelling, as another sign-in may send it
        reply = client.post(f"{path}/accept", json={"content": "Edited."}, headers=who)
        assert reply.status_code in (403, 404), reply.text
    assert client.post(f"{path}/accept", json={}, headers=ANN).json()["state"] == "accepted"
    own = serve(reviewed.model_copy(update={"accept_own": True}), easy_auth=True)
    before = staged(restricting)
    for restricted in RESTRICTED:
        new = handed_in(own, BOB, service=restricted, description=f"About {restricted}")
        reply = own.post(f"/api/contributions/{new['id']}/accept", json={}, headers=BOB)
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_contribution"), restricted
    assert staged(restricting) == before
    new = handed_in(own, BOB, service="printing", description="Toner")
    assert own.post(f"/api/contributions/{new['id']}/accept", json={}, headers=BOB).json()["decided_by"] == "bob"


def test_nothing_is_accepted_for_notes_that_the_reviewer_may_not_read(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"reviewers": ("bob",)}), easy_auth=True)
    new = handed_in(client, ANN)
    notes = Path(own.staging) / "layers-notes"
    notes.mkdir()
    (notes / "index.md").write_text("# Layers: notes\n")
    (notes / "metadata.json").write_text('{"access_control_list": ["group-hr"]}')
    assert client.post(f"/api/contributions/{new['id']}/accept", json={}, headers=BOB).status_code == 404
    assert (notes / "index.md").read_text() == "# Layers: notes\n"


Served = Callable[..., tuple[httpx.Client, AgentService]]


@pytest.fixture
def served(serve: Serve, own: Settings, monkeypatch: pytest.MonkeyPatch) -> Served:
    """Start the service; gives a client and the service itself."""
    import app.api.server as server

    opened: list[AgentService] = []
    real = server.open_service

    def remembering(*arguments: Any) -> AgentService:
        opened.append(real(*arguments))
        return opened[-1]

    monkeypatch.setattr(server, "open_service", remembering)

    def start(**settings: Any) -> tuple[httpx.Client, AgentService]:
        return serve(own, **settings), opened[-1]

    return start


def test_a_disliked_answer_with_a_comment_is_handed_in(served: Served, own: Settings) -> None:
    client, service = served()
    response_id = client.post("/v1/responses", json={"input": "How do I crop a layer?"}).json()["id"]
    path = f"/api/responses/{response_id}/feedback"
    client.post(path, json={"rating": "down"})
    client.post(path, json={"rating": "up", "comment": "fine"})
    client.post(path, json={"rating": "down", "comment": "The menu is called Image, says ann@example.com."})
    while not client.get("/api/contributions").json()["total"]:  # it is handed in after the response
        _drained(service)
    [listed] = client.get("/api/contributions").json()["contributions"]
    assert (listed["source"], listed["type"], listed["service"]) == ("feedback", "Pitfall", "layers")
    assert (listed["contributed_by"], listed["description"]) == ("", "How do I crop a layer?")
    content = client.get(f"/api/contributions/{listed['id']}").json()["content"]
    assert content == (
        "**Question:** How do I crop a layer?\n\n**Comment:** The menu is called Image, says \\[e-mail address\\]."
    )
    assert staged(own) == ["hostile", "layers", "printing", "secret"]


@pytest.mark.slow("builds a whole knowledge base")
def test_a_comment_is_for_reviewers_who_may_read_all_that_the_answer_rests_on(
    served: Served, serve: Serve, own: Settings
) -> None:
    _, service = served()
    client = serve(own.model_copy(update={"reviewers": ("ann", "bob", "group-hr")}), easy_auth=True)
    text = "Crop a layer and read the table of salaries"
    answer = service_answer(client, text)
    assert {citation.article_id for citation in answer.citations} >= {"layers", "secret"}
    hr, down = Principal("eve", ("eve", "group-hr")), Feedback(rating="down", comment="It is 20000 now.")
    service.own_findings.rated(text, hr, answer, down)
    _drained(service)
    assert client.get("/api/contributions", headers=BOB).json()["total"] == 0
    [listed] = client.get("/api/contributions", headers=HR).json()["contributions"]
    path = f"/api/contributions/{listed['id']}"
    assert "12345" not in client.get(path, headers=HR).json()["content"]
    assert client.post(f"{path}/accept", json={}, headers=HR).json()["error"]["code"] == "own_contribution"
    assert client.get(path, headers=signed_in("dan", "group-hr")).json()["may_accept"] is True
    assert "eve" not in str([path.read_text() for path in Path(own.home, "contributions").rglob("*.*")])


def service_answer(client: httpx.Client, text: str) -> ChatAnswer:
    return ChatAnswer.model_validate(client.post("/chat", json={"question": text}, headers=HR).json())


def test_a_comment_of_an_earlier_release_may_hold_words_of_any_article(served: Served, own: Settings) -> None:
    client, _ = served()
    FolderQueue(Path(own.home) / "contributions").add(contribution(source="feedback", contributed_by=""))
    assert client.get("/api/contributions").json()["total"] == 0


def test_what_was_handed_in_is_for_who_may_now_read_all_that_it_was_made_from(served: Served, own: Settings) -> None:
    _, service = served()
    both = [citation("Crop it.", 1, "Layers"), citation("Open it.", 2, "Printing")]
    cited = [each.model_copy(update={"article_id": each.title.lower(), "used": each.number == 1}) for each in both]
    answer = ChatAnswer(answer="Crop it, then open it. [Ref #1]", citations=tuple(cited), answered_by="agent")
    service.own_findings.rated("How?", Principal("ann"), answer, Feedback(rating="down", comment="Wrong."))
    _drained(service)
    [kept] = service.contributing.queue.list()
    assert (kept.article_id, kept.rests_on) == ("layers-notes", ("layers", "printing"))
    reviewer = Caller(Principal("bob"), is_local=True)
    assert service.contributing.page(reviewer).total == 1
    service.articles.access.record("printing", Access(readers=("group-hr",)), pending=True)
    assert service.contributing.page(reviewer).total == 0
    with pytest.raises(ContributionNotFoundError):
        service.contributing.details(kept.id, reviewer)
    assert service.contributing.page(Caller(Principal("eve", ("group-hr",)), is_local=True)).total == 1


@pytest.mark.parametrize("route", ["/chat", "/v1/responses"])
def test_a_question_that_is_refused_three_times_is_handed_in_once(served: Served, route: str) -> None:
    client, service = served()
    name = "question" if route == "/chat" else "input"
    for count in range(1, 6):
        client.post(route, json={name: "Who wrote the symphony about zebras?" + "?" * count}).raise_for_status()
        _drained(service)
        assert client.get("/api/contributions").json()["total"] == (count >= 3)
    [listed] = client.get("/api/contributions").json()["contributions"]
    assert (listed["source"], listed["service"]) == ("qa", "open-questions")


def test_a_follow_up_is_handed_in_with_what_it_continues(served: Served) -> None:
    client, service = served()
    refused = ChatAnswer(answer="", citations=(), answered_by="extractive", refused=True)
    for subject in (
        "Is there a zebra alarm?",
        "Is there a zebra alarm?",
        "Who sells yachts?",
        "Is there a zebra alarm?",
    ):
        answer = refused.model_copy(update={"continues": (subject,)})
        service.own_findings.answered("And on Windows?", Principal(), answer)
        _drained(service)
    [listed] = client.get("/api/contributions").json()["contributions"]
    assert listed["description"] == "Is there a zebra alarm? And on Windows?"


class FullDisk(FolderQueue):
    """A queue that nothing can be added to."""

    def add(self, contribution: Contribution) -> None:
        raise StorageError(f"{contribution.id}: the disk is full")


def test_a_full_disk_changes_no_answer(served: Served, tmp_path: Path) -> None:
    client, service = served()
    service.own_findings.findings._contributions = FullDisk(tmp_path)
    before = client.post("/chat", json={"question": "Who wrote the symphony about zebras?"}).json()
    for _ in range(4):
        after = client.post("/chat", json={"question": "Who wrote the symphony about zebras?"}).json()
        assert after == before
        _drained(service)


def _drained(service: AgentService) -> None:
    service.own_findings.findings.drain()
