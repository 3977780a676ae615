"""Who may read what: every route, for articles in every state their lists can be in, asked by everybody.

The service runs while the lists change beneath it, and has answered everybody before: its caches and all that it keeps
(conversations, responses, streams, investigations, contributions, evaluations) hold what was public then. A route that
is not in :data:`PROBES` fails the first test.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Mount, Route

from app.api.server import create_app
from app.callers.principal import LOCAL_USER
from app.network.records import InvestigationRecords
from app.schema.answers import WHOLE_ANSWER
from app.settings import AppSettings
from kb_pipeline.evaluation.gaps import Gap, KnowledgeGaps, save_gaps
from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.flow.access_binding import observe_changed
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.api.networks import SAMPLE
from kb_pipeline_tests.app.library.originals.pdfs import pdf_of, serve_document
from kb_pipeline_tests.app.quality_history import outcome, save_run
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.pictures import screenshot

HR, OPEN, MALFORMED, MISSPELT = (
    '{"access_control_list": ["group-hr"]}',
    "{}",
    '{"access_control_list": "group-hr"}',
    '{"Access_Control_List": ["group-hr"]}',
)
EVERYBODY, STAFF, NOBODY = "everybody", "group-hr", "nobody"
STATES = {
    "public": EVERYBODY,
    "restricted": STAFF,
    "tightened": STAFF,
    "tightenedbroken": STAFF,
    "malformed": NOBODY,
    "misspelt": NOBODY,
    "mended": STAFF,
    "loosened": EVERYBODY,
    "loosenedbroken": EVERYBODY,
    "rolledback": STAFF,
    "othergeneration": STAFF,
    "waiting": STAFF,
    "failing": NOBODY,
    "deleted": STAFF,
}
"""Who may read an article in the end. Of the one that is deleted only kept answers are left."""
FORMERLY = {"restricted": HR, "loosened": HR, "loosenedbroken": HR}
"""Lists of articles that were not public when everybody asked."""
STREAMED = {"public", "tightened", "tightenedbroken", "malformed", "waiting", "deleted"}
"""Articles that everybody also asked about in the background, with and without an answer."""
ASKERS = {
    "ann": signed_in("ann", "group-hr"),
    "bob": signed_in("bob", "group-it", HIDDEN, "*", "everyone", "group-hr ", "Group-HR"),
    "the local user": {},
}
MAY_READ = {"ann": {EVERYBODY, STAFF}, "bob": {EVERYBODY}, "the local user": {EVERYBODY}}
"""Of the groups that Bob names each is one of others, or none."""
FIRST = {
    "ann": {"public", "restricted", "malformed", "misspelt", "failing"},
    "bob": set(STATES),
    "the local user": {"public", "restricted", "tightened", "malformed", "failing", "deleted"},
}
"""What is asked about in ``make test``: by Bob everything, by the others what each alone shows. Ann, from whom less is
withheld, asks about what nobody may read, and the local user, whom another server gives what Bob gets, about one
article of each kind."""
SCORE = re.compile(r'score\\?"\s*:\s*-?\d')
WIDGET_SITE = "https://help.example.com"
EVALUATION = "retrieval-0000000000000001"


def contents(state: str) -> str:
    """Words of one article alone: an answer that names others, because they are as near, is withheld for their sake."""
    return " ".join(sha256(f"{state} {thing}".encode()).hexdigest()[:8] for thing in range(5))


def page(state: str) -> str:
    return (
        f"<html><body><main><h1>Codebook{state}</h1><h2>Vault {state}</h2>"
        f'<p>The password of {contents(state)} is sesame{state}.</p><p><img src="code.png" alt="the code"></p>'
        "</main></body></html>"
    )


def marks(state: str) -> tuple[str, ...]:
    """Words that stand nowhere but in the article."""
    return f"sesame{state}", f"Codebook{state}"


def question(state: str) -> str:
    return f"Where is {contents(state)}?"


def unanswerable(state: str) -> str:
    """Something that is refused, though an article is near."""
    return f"Which unicorn rides the {state} zeppelin?"


def investigation_of(state: str, name: str) -> str:
    """The id of the investigation of a person, which quotes an article."""
    return f"20260101-000000000-{sha256(f'{state} {name}'.encode()).hexdigest()[:16]}"


def gap_of(state: str) -> str:
    """The id of the gap that an article is nearest to."""
    return sha256(state.encode()).hexdigest()[:16]


class Authors:
    """Stages articles and has them ingested."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(
            staging=str(folder / "staging"),
            home=str(folder / "home"),
            embedder="hashing",
            chunk_min_tokens=4,
            scenarios=str(SAMPLE.parent),
        )
        self._runs = 0

    def stage(self, state: str, metadata: str, html: str | None = None) -> None:
        folder = Path(self.settings.staging) / state
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "index.html").write_text(page(state) if html is None else html)
        (folder / "code.png").write_bytes(screenshot(state))
        (folder / "metadata.json").write_text(metadata)

    def ingest(self, *states: str, **changed: object) -> dict[str, str | None]:
        """Errors by article."""
        self._runs += 1
        settings = self.settings.model_copy(update=changed)
        run = Run(f"run-{self._runs}", f"2026-01-{self._runs:02}T00:00:00+00:00")
        built = [build_article(settings, state, LAYER_NAMES, run) for state in states]
        return {
            result.article_id: result.error for result in publish(open_workspace(settings), built, LAYER_NAMES, run)
        }

    def publish_everything(self) -> None:
        for state in STATES.keys() - {"failing"}:
            self.stage(state, FORMERLY.get(state, OPEN))
        assert set(self.ingest(*sorted(STATES.keys() - {"failing"})).values()) == {None}

    def change_everything(self) -> None:
        """Every article comes into the state that it is named after."""
        for state in ("tightened", "mended", "rolledback", "othergeneration", "waiting", "deleted"):
            self.stage(state, HR)
        self.stage("tightenedbroken", HR, html="")
        self.stage("loosened", OPEN)
        self.stage("loosenedbroken", OPEN, html="")
        self.stage("malformed", MALFORMED)
        self.stage("misspelt", MISSPELT)
        self.stage("failing", HR, html="")
        errors = self.ingest("tightened", "tightenedbroken", "loosened", "loosenedbroken", "rolledback", "deleted")
        assert {state for state, error in errors.items() if error} == {"tightenedbroken", "loosenedbroken"}
        assert None not in self.ingest("malformed", "misspelt", "failing").values()
        self.stage("mended", MALFORMED)
        assert self.ingest("mended")["mended"]
        self.stage("mended", HR)
        assert self.ingest("mended") == {"mended": None}
        pin(Workspace(self.settings), "rolledback", None, Run("run-x", "2026-02-01T00:00:00+00:00"))
        assert self.ingest("rolledback") == {"rolledback": None}
        shutil.rmtree(Path(self.settings.staging) / "deleted")
        remove_all(open_workspace(self.settings), ["deleted"])
        # readers go on with the generation of today while another one is being filled
        assert self.ingest("othergeneration", chunk_max_tokens=100) == {"othergeneration": None}
        workspace = Workspace(self.settings)
        observe_changed(workspace, workspace.staging.scan().signatures)  # what the sensor does
        assert "waiting" in workspace.access.pending()


@dataclass
class Asker:
    """Somebody with a client, and the responses that they were given when everything was public."""

    name: str
    client: httpx.Client
    responses: dict[str, str]
    streamed: dict[str, list[str]]
    etags: dict[str, str]
    chunks: dict[str, str]
    shares: dict[str, str]

    def may_read(self, state: str) -> bool:
        return STATES[state] in MAY_READ[self.name]

    def ask_everything(self) -> None:
        for state in STATES.keys() - {"failing"}:
            answer = self.post("/v1/responses", input=question(state), conversation=f"conv_{state}").json()
            self.responses[state] = answer["id"]
            shared = self.post(f"/api/conversations/conv_{state}/shares/{answer['id']}")
            self.shares[state] = shared.raise_for_status().json()["id"]
            SHARED.append(f"{state} {self.shares[state]}")
            if state in STREAMED:
                asked = question(state), unanswerable(state)
                self.streamed[state] = [self._ask_in_background(text, state) for text in asked]
            self.etags[state] = self.client.get(f"/api/images/{state}/images/code.png").headers.get("etag", '"none"')
            chunks = self.client.get(f"/api/articles/{state}").json().get("chunks", [])
            self.chunks[state] = chunks[0]["chunk_id"] if chunks else "none"
            # they were told: what is kept of it is what must not be told again
            assert (f"sesame{state}" in str(answer["output"])) == (self.name == "ann" or state not in FORMERLY), state
        for path in ("/api/articles", "/api/suggestions", "/api/quality/runs"):
            assert self.client.get(path).is_success

    def _ask_in_background(self, text: str, state: str) -> str:
        body = {"input": text, "background": True, "stream": True, "metadata": {WHOLE_ANSWER: "true"}}
        told = self.post("/v1/responses", conversation=f"conv_{state}", **body).text
        assert "response.completed" in told
        return re.findall(r"caresp_\w+", told)[0]

    def rate(self, state: str, reviewer: httpx.Client) -> str:
        """Say that an answer is bad, which is then proposed; the contribution that a reviewer sees."""
        rating = {"rating": "down", "comment": f"The {state} vault has a window, too."}
        assert self.post(f"/api/responses/{self.responses[state]}/feedback", **rating).is_success
        seen: list[str] = []
        while not seen:  # it is handed in after the reply
            listed = reviewer.get("/api/contributions").json()["contributions"]
            seen = [each["id"] for each in listed if each["source"] == "feedback"]
        assert rating["comment"] in reviewer.get(f"/api/contributions/{seen[0]}").text
        return seen[0]

    def kept(self, state: str) -> list[str]:
        """All responses about an article."""
        return [str(self.responses.get(state)), *self.streamed.get(state, ())]

    def post(self, path: str, **body: object) -> httpx.Response:
        return self.client.post(path, json=body)


SHARED: list[str] = []
"""Links to answers of everybody."""
ANYBODY: list[str] = []
"""Contributions of everybody who asked so far."""


def _contribution(who: "Asker | list[str]", state: str) -> str:
    """A contribution of this person about an article; of anybody, the first that somebody handed in about it."""
    if isinstance(who, list):
        return next((each.partition(" ")[2] for each in who if each.startswith(f"{state} ")), "none")
    reply = who.post("/api/contributions", service=state, description=state, content=question(state))
    assert reply.status_code == 201, reply.text
    contribution_id = str(reply.json()["id"])
    ANYBODY.append(f"{state} {contribution_id}")
    return contribution_id


Probe = Callable[[Asker, str], list[httpx.Response]]
PROBES: dict[str, Probe] = {
    "/health": lambda who, state: [who.client.get("/health")],
    "/readiness": lambda who, state: [who.client.get("/readiness")],
    "/v1/readiness": lambda who, state: [who.client.get("/v1/readiness")],
    "/v1/models": lambda who, state: [who.client.get("/v1/models")],
    "/v1/entities": lambda who, state: [who.client.get("/v1/entities")],
    "/chat": lambda who, state: [who.post("/chat", question=question(state), top_k=50)],
    "/widget.js": lambda who, state: [who.client.get("/widget.js")],
    "/api/widget/answer": lambda who, state: [
        who.client.post("/api/widget/answer", json={"question": question(state)}, headers={"origin": WIDGET_SITE}),
        who.client.post(
            "/api/widget/answer",
            json={"question": question(state), "document_ids": [state]},
            headers={"origin": WIDGET_SITE},
        ),
    ],
    "/api/widget/images/{article_id}/{image_path}": lambda who, state: [
        who.client.get(f"/api/widget/images/{state}/images/code.png", headers={"origin": WIDGET_SITE})
    ],
    "/api/search": lambda who, state: [
        who.client.get("/api/search", params={"q": question(state), "mode": mode, "top": 50})
        for mode in ("hybrid", "keyword", "vector")
    ],
    "/api/articles": lambda who, state: [
        who.client.get("/api/articles", params={"limit": 500}),
        who.client.get("/api/articles", params={"search": state}),
    ],
    "/api/articles/{article_id}": lambda who, state: [who.client.get(f"/api/articles/{state}")],
    "/api/articles/{article_id}/backlog": lambda who, state: [who.client.get(f"/api/articles/{state}/backlog")],
    "/api/articles/{article_id}/use": lambda who, state: [who.client.get(f"/api/articles/{state}/use")],
    "/api/context": lambda who, state: [
        who.client.get("/api/context", params={"articles": state, "mode": mode}) for mode in ("poc", "all")
    ],
    "/api/me": lambda who, state: [who.client.get("/api/me")],
    "/api/mode": lambda who, state: [who.client.get("/api/mode")],
    "/api/model": lambda who, state: [who.client.get("/api/model"), who.client.delete("/api/model")],
    "/api/model/trial": lambda who, state: [who.post("/api/model/trial", endpoint="ftp://nowhere")],
    "/api/web/stats": lambda who, state: [who.client.get("/api/web/stats")],
    "/api/gaps": lambda who, state: [
        who.client.get("/api/gaps"),
        who.client.get("/api/gaps", params={"now": "true"}),
    ],
    "/api/gaps/{gap_id}": lambda who, state: [
        who.client.get(f"/api/gaps/{gap_of(state)}", params={"whole": "true"}),
        who.client.put(f"/api/gaps/{gap_of(state)}", json={"assigned_to": who.name}),
    ],
    "/api/usage": lambda who, state: [who.client.get("/api/usage")],
    "/api/usage.csv": lambda who, state: [who.client.get("/api/usage.csv")],
    "/api/images/{article_id}/{image_path}": lambda who, state: [
        who.client.get(f"/api/images/{state}/images/code.png"),
        who.client.head(f"/api/images/{state}/images/code.png"),
        who.client.get(f"/api/images/{state}/images/code.png", headers={"if-none-match": who.etags.get(state, "*")}),
        who.client.get(f"/api/images/{state}/images/code.png", headers={"if-none-match": "*"}),
        who.client.get(f"/api/images/{state}/images/code.png", headers={"range": "bytes=0-9"}),
    ],
    "/api/documents": lambda who, state: [
        who.client.get("/api/documents", params={"limit": 500}),
        who.client.get("/api/documents", params={"limit": 500, "sort": "title", "filename": "index.html"}),
    ],
    "/api/documents/{article_id}": lambda who, state: [who.client.get(f"/api/documents/{state}")],
    "/api/documents/{article_id}/{file}": lambda who, state: [
        who.client.get(f"/api/documents/{state}/vault.pdf"),
        who.client.head(f"/api/documents/{state}/vault.pdf"),
        who.client.get(f"/api/documents/{state}/vault.pdf", headers={"if-none-match": "*"}),
        who.client.get(f"/api/documents/{state}/vault.pdf", headers={"range": "bytes=0-9"}),
    ],
    "/api/documents/{article_id}/pages/{page}.png": lambda who, state: [
        who.client.get(f"/api/documents/{state}/pages/1.png"),
        who.client.head(f"/api/documents/{state}/pages/1.png"),
        who.client.get(f"/api/documents/{state}/pages/1.png", headers={"if-none-match": "*"}),
        who.client.get(f"/api/documents/{state}/pages/1.png", params={"chunk": who.chunks.get(state, "none")}),
    ],
    "/api/tools": lambda who, state: [who.client.get("/api/tools")],
    "/api/tools/{name}": lambda who, state: [
        who.post("/api/tools/rag_semantic_search", query=question(state), top_k=50),
        who.post("/api/tools/rag_semantic_search", query=question(state), top_k=50, filters={"doc_id": state}),
        who.post("/api/tools/rag_list_documents", limit=500),
        who.post("/api/tools/rag_list_documents", filters={"doc_id": state}),
        who.post("/api/tools/rag_get_document", doc_id=state),
    ],
    "/mcp": lambda who, state: [
        who.client.post(
            "/mcp",
            headers={"accept": "application/json, text/event-stream"},
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments},
            },
        )
        for name, arguments in (
            ("rag_semantic_search", {"query": question(state), "top_k": 50}),
            ("rag_list_documents", {"limit": 500}),
            ("rag_get_document", {"doc_id": state}),
        )
    ],
    "/query/graph": lambda who, state: [who.post("/query/graph", query=question(state))],
    "/query/telemetry": lambda who, state: [who.post("/query/telemetry", query=question(state))],
    "/query/topology": lambda who, state: [who.post("/query/topology", query=state)],
    "/query/openapi.json": lambda who, state: [who.client.get("/query/openapi.json")],
    "/query/health": lambda who, state: [who.client.get("/query/health")],
    "/api/scenarios": lambda who, state: [who.client.get("/api/scenarios")],
    "/api/agents": lambda who, state: [who.client.get("/api/agents")],
    "/api/alert": lambda who, state: [who.post("/api/alert", text=question(state))],
    "/api/investigations": lambda who, state: [who.client.get("/api/investigations")],
    "/api/investigations/{investigation_id}": lambda who, state: [
        who.client.get(f"/api/investigations/{investigation_of(state, who.name)}")
    ],
    "/api/investigations/{investigation_id}/events": lambda who, state: [
        who.client.get(f"/api/investigations/{investigation_of(state, who.name)}/events", headers=headers)
        for headers in ({}, {"last-event-id": "1"})
    ],
    "/api/logs": lambda who, state: [who.client.get("/api/logs", params={"follow": "false"})],
    "/api/collections": lambda who, state: [who.client.get("/api/collections")],
    "/api/suggestions": lambda who, state: [who.client.get("/api/suggestions")],
    "/api/conversations": lambda who, state: [who.client.get("/api/conversations", params={"limit": 200})],
    "/api/conversations/{conversation_id}": lambda who, state: [
        who.client.get(f"/api/conversations/conv_{state}"),
        who.client.patch(f"/api/conversations/conv_{state}", json={"title": "x"}),
    ],
    "/api/conversations/{conversation_id}/markdown": lambda who, state: [
        who.client.get(f"/api/conversations/conv_{state}/markdown")
    ],
    "/api/conversations/{conversation_id}/shares/{response_id}": lambda who, state: [
        who.post(f"/api/conversations/conv_{state}/shares/{who.responses.get(state)}"),
        who.client.delete(f"/api/conversations/conv_{state}/shares/none"),
    ],
    "/api/shares/{share_id}": lambda who, state: [
        who.client.get(f"/api/shares/{share_id}") for of_state, share_id in map(str.split, SHARED) if of_state == state
    ],
    "/api/responses/{response_id}/answer": lambda who, state: [
        who.client.get(f"/api/responses/{response_id}/answer") for response_id in who.kept(state)
    ],
    "/api/responses/{response_id}/picture": lambda who, state: [
        who.client.get(f"/api/responses/{who.responses.get(state)}/picture")
    ],
    "/api/responses/{response_id}/opened": lambda who, state: [
        who.post(f"/api/responses/{who.responses.get(state)}/opened", number=1)
    ],
    "/api/responses/{response_id}/feedback": lambda who, state: [
        who.post(f"/api/responses/{who.responses.get(state)}/feedback", rating="up")
    ],
    "/api/quality/use": lambda who, _: [who.client.get("/api/quality/use")],
    "/api/quality/runs": lambda who, state: [who.client.get("/api/quality/runs")],
    "/api/quality/runs/{run_id}": lambda who, state: [who.client.get(f"/api/quality/runs/{EVALUATION}")],
    "/api/quality/compare": lambda who, state: [
        who.client.get("/api/quality/compare", params={"before": EVALUATION, "after": EVALUATION})
    ],
    "/api/contributions": lambda who, state: [
        who.client.get("/api/contributions"),
        who.post("/api/contributions", service=state, description=question(state), content=question(state)),
        who.post("/api/contributions", service=state, description="x", content="x", type="New service", draft=True),
    ],
    "/api/contributions/{contribution_id}": lambda who, state: [
        who.client.get(f"/api/contributions/{_contribution(who, state)}"),
        who.client.get(f"/api/contributions/{_contribution(ANYBODY, state)}"),
    ],
    "/api/contributions/{contribution_id}/accept": lambda who, state: [
        who.post(f"/api/contributions/{_contribution(who, state)}/accept", section="../x", content="[x]: y"),
    ],
    "/api/contributions/{contribution_id}/reject": lambda who, state: [
        who.post(f"/api/contributions/{_contribution(who, state)}/reject", reason="not true"),
    ],
    # off, as by default: what it says of articles when it is on, its own tests ask
    "/api/uploads": lambda who, state: [
        who.client.post("/api/uploads", params={"name": "a.md", "service": state}, content=question(state))
    ],
    "/v1/responses": lambda who, state: [
        who.post("/v1/responses", input=question(state)),
        who.post("/v1/responses", input=question(state), stream=True),
        who.post("/v1/responses", input="And once more?", previous_response_id=who.responses.get(state)),
        who.post("/v1/responses", input=f"Say it again: {state}", conversation=f"conv_{state}"),
    ],
    "/v1/responses/{response_id}": lambda who, state: [
        who.client.get(f"{prefix}/responses/{response_id}", params=params)
        for prefix in ("/v1", "")
        for response_id in who.kept(state)
        for params in ({}, {"stream": "true"})
    ],
    "/v1/responses/{response_id}/cancel": lambda who, state: [
        who.post(f"/v1/responses/{who.responses.get(state)}/cancel")
    ],
    "/v1/responses/{response_id}/input_items": lambda who, state: [
        who.client.get(f"/v1/responses/{response_id}/input_items", params={"limit": 100})
        for response_id in who.kept(state)
    ],
}
NAME_NO_ARTICLE = {
    *("/health", "/readiness", "/v1/readiness", "/v1/models", "/v1/entities", "/query/openapi.json", "/query/health"),
    *("/api/me", "/api/mode", "/api/model", "/api/model/trial", "/api/web/stats", "/api/gaps"),
    *("/api/usage", "/api/usage.csv", "/api/tools", "/api/logs", "/widget.js"),
    *("/api/documents", "/api/scenarios", "/api/agents", "/api/investigations", "/api/collections"),
    *("/api/suggestions", "/api/conversations"),
    *("/api/quality/runs", "/api/quality/runs/{run_id}", "/api/quality/compare", "/api/quality/use"),
}
"""Routes that are asked the same whatever article is looked for."""


@pytest.fixture(scope="module")
def askers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Asker]]:
    """Everybody, after they asked about everything and everything was changed."""
    authors = Authors(tmp_path_factory.mktemp("matrix"))
    authors.publish_everything()
    _measure(authors.settings)
    with ExitStack() as stack:
        secured, open_ = (
            stack.enter_context(
                serving_app(
                    create_app(AppSettings(easy_auth=easy_auth, widget_origins=(WIDGET_SITE,)), authors.settings)
                )
            )
            for easy_auth in (True, False)
        )
        everybody = {}
        for name, headers in ASKERS.items():
            client = httpx.Client(base_url=secured if headers else open_, headers=headers, timeout=30)
            everybody[name] = Asker(name, stack.enter_context(client), {}, {}, {}, {}, {})
            everybody[name].ask_everything()
        ANYBODY.append(f"tightened {everybody['bob'].rate('tightened', everybody['the local user'].client)}")
        _investigate(authors.settings)
        authors.change_everything()
        for state in STATES.keys() - {"deleted", "failing"}:
            serve_document(authors.settings, state, "vault.pdf", pdf_of([f"The {state} vault"]))
        yield everybody


def _measure(settings: Settings) -> None:
    """A question about each article, whose expected answer and findings name it, and a gap that is nearest to it."""
    outcomes = []
    for state in STATES:
        asked = EvaluationQuestion(
            question=f"Is sesame{state} the password?", article_id=state, answer_span=marks(state)[0], kind="how-to"
        )
        outcomes.append(outcome(asked, 1, *dict.fromkeys([state, "public"])))
    gaps = tuple(
        Gap(
            id=gap_of(state),
            question="What is its password?",
            count=1,
            reasons={"refused": 1},
            last_asked="2026-02-01T00:00:00+00:00",
            article_id=state,
            title=f"Codebook{state}",
        )
        for state in STATES
    )
    save_gaps(settings, KnowledgeGaps(made_at="2026-03-01T02:00:00+00:00", records_content=True, gaps=gaps))
    save_run(settings, EVALUATION, "retrieval", "2026-03-01T02:00:00+00:00", "generation-one", tuple(outcomes))


def _investigate(settings: Settings) -> None:
    """Investigations of everybody that quote each article: one to the end, as they are kept."""
    records = InvestigationRecords(settings.home_path / "investigations")
    for state, name in product(sorted(STATES.keys() - {"failing"}), ASKERS):
        record_id, user = investigation_of(state, name), name if ASKERS[name] else LOCAL_USER
        quoted = "; ".join(marks(state))
        start = {"run_id": record_id, "alert": "LINK_DOWN", "timestamp": "2026-01-01T00:00:00+00:00"}
        step = {"step": 1, "agent": "RunbookKBAgent", "duration": 0.1, "query": "link", "response": quoted}
        lines = [
            {"event": "run_start", "data": start, "asker": user, "scenario": "telco", "readers": []},
            {"event": "step_start", "data": {"step": 1, "agent": "RunbookKBAgent"}},
            {"event": "step_complete", "data": step, "rests_on": [state]},
            {"event": "message", "data": {"text": quoted}, "rests_on": ["public", state]},
            {"event": "run_complete", "data": {"steps": 1, "tokens": 0, "time": 0.2}},
        ]
        for line in lines:
            records.append_now(record_id, line)
    records.close()


def test_every_route_is_asked(tmp_path: Path) -> None:
    app = create_app(AppSettings(), Settings(home=str(tmp_path), embedder="hashing"))
    routes = set(app.openapi()["paths"])
    for mount in (route for route in app.routes if isinstance(route, Mount)):
        routes |= {f"{mount.path}{route.path}" for route in mount.app.routes}  # type: ignore[attr-defined]
    routes |= {route.path for route in app.routes if type(route) is Route} - {"/openapi.json"}
    assert routes == PROBES.keys()


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("name", ASKERS)
@pytest.mark.parametrize("route", PROBES)
def test_nobody_is_told_what_they_may_not_read(askers: dict[str, Asker], route: str, name: str) -> None:
    tells_nothing_else(askers[name], route, ["public"] if route in NAME_NO_ARTICLE else FIRST[name])


@pytest.mark.rare("asks every route about the rest")
@pytest.mark.parametrize("name", [name for name in ASKERS if STATES.keys() - FIRST[name]])
@pytest.mark.parametrize("route", [route for route in PROBES if route not in NAME_NO_ARTICLE])
def test_nor_of_any_other_article(askers: dict[str, Asker], route: str, name: str) -> None:
    tells_nothing_else(askers[name], route, STATES.keys() - FIRST[name])


def tells_nothing_else(asker: Asker, route: str, states: Collection[str]) -> None:
    """Whatever is asked of a route about these articles, the replies tell only what the asker may read."""
    for state in sorted(states):
        for reply in PROBES[route](asker, state):
            told = {other for other in STATES if any(mark in reply.text for mark in marks(other))}
            told |= set(article_ids_in(reply)) & STATES.keys() - ({state} if reply.status_code >= 400 else set())
            assert asker.name == "the local user" or not SCORE.search(reply.text), reply.text
            if route.startswith(("/api/images/", "/api/widget/images/", "/api/documents/")) and reply.status_code < 400:
                told |= {state}
            if route in ("/api/articles", "/api/articles/{article_id}") and asker.name == "the local user":
                told -= {"failing"}  # whoever is at the machine hears why articles were never published
            if reply.request.method == "PATCH" or "conversations" in route:
                told -= {state} if asker.may_read(state) else set()
            assert told <= {other for other in STATES if asker.may_read(other)}, (state, reply.request.url, reply.text)


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("name", ASKERS)
def test_everybody_is_told_what_they_may_read(askers: dict[str, Asker], name: str) -> None:
    asker = askers[name]
    for state in STATES.keys() - {"deleted", "failing"}:
        expected = asker.may_read(state)
        article = asker.client.get(f"/api/articles/{state}")
        assert (article.is_success and f"sesame{state}" in article.text) == expected, state
        assert asker.client.get(f"/api/images/{state}/images/code.png").is_success == expected, state
        assert asker.client.get(f"/api/documents/{state}/vault.pdf").is_success == expected, state
        assert asker.client.get(f"/api/documents/{state}/pages/1.png").is_success == expected, state
        found = asker.client.get("/api/search", params={"q": question(state), "top": 50}).json()["results"]
        assert (state in {hit["article_id"] for hit in found}) == expected, state
        assert (f"sesame{state}" in asker.post("/chat", question=question(state)).text) == expected, state
        kept = asker.client.get(f"/v1/responses/{asker.responses[state]}")
        was_told = expected and (name == "ann" or state not in FORMERLY)
        assert (kept.is_success and f"sesame{state}" in kept.text) == was_told, state
        for response_id in asker.streamed.get(state, ())[:1]:
            streamed = asker.client.get(f"/v1/responses/{response_id}")
            assert (streamed.is_success and f"sesame{state}" in streamed.text) == was_told, state
        investigation = asker.client.get(f"/api/investigations/{investigation_of(state, name)}")
        assert (investigation.is_success and f"sesame{state}" in investigation.text) == expected, state
        assert investigation.status_code == (200 if expected else 404)


def test_who_lost_an_article_is_told_why_its_answers_are_not_shown(askers: dict[str, Asker]) -> None:
    turn = askers["bob"].client.get("/api/conversations/conv_tightened").json()["turns"][0]
    assert turn["question"] == question("tightened")
    assert turn["answer"] is None
    assert "may no longer read" in turn["problem"]
    assert askers["ann"].client.get("/api/conversations/conv_deleted").json()["turns"][0]["answer"]


def test_a_response_is_trimmed_to_what_its_reader_may_still_see(askers: dict[str, Asker]) -> None:
    trimmed = askers["bob"].client.get(f"/v1/responses/{askers['bob'].streamed['public'][0]}").json()
    assert {item["type"] for item in trimmed["output"]} <= {"file_search_call", "message", "structured_outputs"}
    answer = trimmed["output"][-1]["output"]["answer"]
    assert answer == askers["bob"].client.get(f"/api/responses/{trimmed['id']}/answer").json()
    assert {citation["article_id"] for citation in answer["citations"]} <= {"public", "loosened", "loosenedbroken"}


def article_ids_in(reply: httpx.Response) -> Iterator[str]:
    """Every article that a reply names as one; not the name of a new one, which a contribution repeats."""
    try:
        pending: list[Any] = [reply.json()]
    except ValueError:
        return
    while pending:
        match pending.pop():
            case dict() as fields:
                if (named := fields.get("article_id")) and named != fields.get("service"):
                    yield str(named)
                pending.extend(fields.values())
            case list() as items:
                pending.extend(items)
