"""The service where callers send access tokens: who is let in, as whom, and what keeps others out."""

import asyncio
import base64
import json
import time
from collections.abc import Callable

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from app.api.gate import OPEN_PATHS, WIDGET, WIDGET_SCRIPT
from app.callers.access_tokens import FOR_OTHERS, ROLE, SCOPE
from app.client import Client, ClientError
from app.client.service_token import ServiceToken
from kb_pipeline_tests import managed_identity
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in
from kb_pipeline_tests.app.token_issuer import AUDIENCE, TokenIssuer, bearer
from kb_pipeline_tests.ports import free_port

SALARY = {"question": "What is the salary of the director?"}
CROP = {"question": "How do I crop a layer?"}


@pytest.fixture
def guarded(serve: Serve, token_issuer: TokenIssuer) -> httpx.Client:
    """The service as it is reached by people's and other programs' tokens."""
    return serve(token_issuer=token_issuer.url, token_audience=AUDIENCE)


def refused(service: httpx.Client, headers: dict[str, str]) -> tuple[int, str]:
    reply = service.post("/chat", json=CROP, headers=headers)
    return reply.status_code, reply.json()["error"]["message"]


def test_without_a_token_nobody_gets_in(guarded: httpx.Client) -> None:
    reply = guarded.post("/chat", json=CROP)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_signed_in")
    assert reply.headers["www-authenticate"] == "Bearer"
    for header in ("Basic YW5uOjE=", "Bearer", "token"):
        assert refused(guarded, {"Authorization": header})[0] == 401
    assert refused(guarded, signed_in("ann", "group-hr"))[0] == 401


@pytest.mark.slow("asks every route")
def test_no_route_answers_without_one(guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
    described = guarded.get("/openapi.json", headers=token_issuer.of_person("ann")).json()["paths"]
    open_ = (
        OPEN_PATHS | {WIDGET_SCRIPT} | {path for path in described if path.startswith(WIDGET)}
    )  # whose sites are named
    routes = {(method, path) for path, methods in described.items() if path not in open_ for method in methods}
    routes |= {("post", "/mcp"), ("get", "/openapi.json"), ("post", "/v1/responses"), ("get", "/v1/responses/resp_1")}
    assert len(routes) > 50
    for method, path in routes:
        body = {"json": {}} if method in ("post", "patch", "put") else {}
        reply = guarded.request(method.upper(), path.replace("{", "").replace("}", ""), **body)
        assert (reply.status_code, reply.headers.get("www-authenticate")) == (401, "Bearer"), (method, path)


@pytest.mark.slow("asks every route")
def test_what_programs_use_is_reached_with_one(guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
    program = token_issuer.of_program("reports")
    (agent,) = guarded.get("/v1/entities", headers=program).json()["entities"]
    response = openai_of(guarded, **program).responses.create(input=CROP["question"], model=agent["id"])
    assert "Crop to Content" in response.output_text
    assert len(guarded.get("/api/tools", headers=program).json()["tools"]) == 3
    call = {"name": "rag_list_documents", "arguments": {}}
    listed = guarded.post(f"/api/tools/{call['name']}", json=call["arguments"], headers=program).json()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accepted = {"accept": "application/json, text/event-stream"}
    by_mcp = guarded.post("/mcp", json=message, headers={**program, **accepted}).json()["result"]["structuredContent"]
    assert listed == by_mcp
    assert "secret" not in {document["doc_id"] for document in listed["documents"]}


def test_whoever_watches_over_the_service_needs_none(guarded: httpx.Client) -> None:
    assert guarded.get("/health").is_success
    assert guarded.get("/readiness").is_success


def test_a_person_asks_and_reads_what_their_groups_may(guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
    ann, bob = token_issuer.of_person("ann", "group-hr"), token_issuer.of_person("bob", "group-it")
    assert "12345" in guarded.post("/chat", json=SALARY, headers=ann).raise_for_status().text
    assert "12345" not in guarded.post("/chat", json=SALARY, headers=bob).raise_for_status().text
    assert guarded.get("/api/articles/secret", headers=bob).status_code == 404


def test_a_program_asks_for_itself(guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
    program = token_issuer.of_program("reports")
    assert "Crop to Content" in guarded.post("/chat", json=CROP, headers=program).raise_for_status().json()["answer"]
    assert "12345" not in guarded.post("/chat", json=SALARY, headers=program).text


def test_conversations_belong_to_the_person_of_the_token(guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
    ann, bob = token_issuer.of_person("ann"), token_issuer.of_person("bob")
    response = openai_of(guarded, **ann).responses.create(input=CROP["question"], model="knowledge-base")
    assert guarded.get(f"/api/responses/{response.id}/answer", headers=ann).is_success
    assert guarded.get(f"/api/responses/{response.id}/answer", headers=bob).status_code == 404


@pytest.mark.parametrize(
    ("claims", "status", "told"),
    [
        ({"aud": "api://another"}, 401, f"for another service; get one for {AUDIENCE}"),
        ({"aud": None}, 401, "not one that"),
        ({"iss": "https://login.microsoftonline.com/another-tenant/v2.0"}, 401, "another issuer"),
        ({"exp": 1_600_000_000}, 401, "expired"),
        ({"exp": None}, 401, "not one that"),
        ({"nbf": 4_000_000_000}, 401, "not one that"),
        ({"scp": "User.Read"}, 403, f"the scope {SCOPE}"),
        ({"scp": None}, 403, f"the role {ROLE}"),  # such as an ID token
        ({"scp": None, "roles": "Reader"}, 403, "does not allow to ask"),
        ({"scp": "User.Read", "roles": [ROLE]}, 403, "does not allow to ask"),
        ({"scp": "User.Read", "roles": [FOR_OTHERS]}, 403, "does not allow to ask"),
        ({"sub": None}, 401, "not one that"),
        ({"oid": "local"}, 401, "does not say who asks"),  # whose conversations are those of whoever uses the machine
        ({"oid": "a\0b"}, 401, "does not say who asks"),
        ({"oid": "x" * 201}, 401, "does not say who asks"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_a_token_that_does_not_fit_is_refused_and_why(
    guarded: httpx.Client, token_issuer: TokenIssuer, claims: dict[str, object], status: int, told: str
) -> None:
    found, message = refused(guarded, token_issuer.of_person("ann", "group-hr", **claims))
    assert found == status
    assert told in message


def _with_own_key(issuer: TokenIssuer, kid: str) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return jwt.encode(_claims(issuer), key, "RS256", {"kid": kid})


def _with_public_key_as_secret(issuer: TokenIssuer, kid: str) -> str:
    public = httpx.get(f"{issuer.url}/jwks").json()["keys"][0]["n"]
    return jwt.encode(_claims(issuer), public, "HS256", {"kid": kid})


def _unsigned(issuer: TokenIssuer, kid: str) -> str:
    return jwt.encode(_claims(issuer), "", "none", {"kid": kid})


def _of_a_key_elsewhere(issuer: TokenIssuer, _: str) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return jwt.encode(_claims(issuer), key, "RS256", {"kid": "mine", "jku": "http://127.0.0.1:9/keys"})


def _claims(issuer: TokenIssuer) -> dict[str, object]:
    whose = {"iss": issuer.url, "aud": AUDIENCE, "sub": "ann", "oid": "ann", "scp": SCOPE, "groups": ["group-hr"]}
    return {**whose, "exp": int(time.time()) + 600}


@pytest.mark.parametrize("forged", [_with_own_key, _with_public_key_as_secret, _unsigned, _of_a_key_elsewhere])
def test_a_token_that_the_issuer_did_not_sign_is_refused(
    guarded: httpx.Client, token_issuer: TokenIssuer, forged: Callable[[TokenIssuer, str], str]
) -> None:
    kid = jwt.get_unverified_header(token_issuer.token(sub="x"))["kid"]
    status, message = refused(guarded, bearer(forged(token_issuer, kid)))
    assert status == 401
    assert "has signed" in message


@pytest.mark.parametrize(
    "token",
    ["x", "a.b.c", "..", base64.urlsafe_b64encode(b"[" * 9000).decode() + ".e30.", "e30.e30.e30", "a" * 12_000],
    ids=["short", "three", "dots", "deep", "empty", "long"],
)
def test_what_is_no_token_is_refused(guarded: httpx.Client, token: str) -> None:
    assert refused(guarded, bearer(token))[0] == 401


def test_while_the_issuer_does_not_answer_nobody_gets_in(serve: Serve, token_issuer: TokenIssuer) -> None:
    service = serve(token_issuer=f"http://127.0.0.1:{free_port()}", token_audience=AUDIENCE)
    reply = service.post("/chat", json=CROP, headers=token_issuer.of_person("ann"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "upstream_busy")


class TestThePage:
    """It sends its own token, and in the headers of Easy Auth for whom it asks."""

    def test_asks_for_the_person_who_is_signed_in_there(self, guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
        page = bearer(token_issuer.of_page())
        for_ann = guarded.post("/chat", json=SALARY, headers={**page, **signed_in("ann", "group-hr")})
        assert "12345" in for_ann.raise_for_status().text
        assert "12345" not in guarded.post("/chat", json=SALARY, headers={**page, **signed_in("bob")}).text

    def test_asks_for_nobody_else(self, guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
        assert refused(guarded, bearer(token_issuer.of_page()))[0] == 401

    def test_is_the_only_one_whose_headers_are_believed(self, guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
        for others in (token_issuer.of_person("bob"), token_issuer.of_program("reports")):
            reply = guarded.post("/chat", json=SALARY, headers={**others, **signed_in("ann", "group-hr")})
            assert "12345" not in reply.raise_for_status().text

    @pytest.mark.slow("asks every route")
    def test_gets_its_token_by_its_managed_identity(
        self, guarded: httpx.Client, token_issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with managed_identity.signed_in(monkeypatch) as identity:
            identity.issue = token_issuer.of_page
            url = str(guarded.base_url).rstrip("/")
            token = ServiceToken(url, f"api://{AUDIENCE}/.default")
            with Client(url, headers=signed_in("ann", "group-hr"), token=token) as client:
                assert "12345" in client.chat(SALARY["question"]).answer
                assert "12345" in asyncio.run(_asked(client))
            assert identity.audiences == [f"api://{AUDIENCE}"]  # once: it is kept

    def test_says_so_where_it_has_no_identity(self, guarded: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
        with managed_identity.signed_in(monkeypatch) as identity:
            identity.status = 400
            url = str(guarded.base_url).rstrip("/")
            with Client(url, token=ServiceToken(url, f"api://{AUDIENCE}/.default")) as client:
                with pytest.raises(ClientError, match="no token for the agent service"):
                    client.articles()
                with pytest.raises(ClientError, match="no token for the agent service"):
                    asyncio.run(_asked(client))


async def _asked(client: Client) -> str:
    async with client.ask(SALARY["question"]) as stream:
        return "".join([part async for part in stream if isinstance(part, str)])


class TestAPageOfAnotherSite:
    """May call the service from a browser only where KB_CORS_ORIGINS names its site."""

    PORTAL = "https://portal.example.com"

    def test_is_refused_by_default(self, guarded: httpx.Client, token_issuer: TokenIssuer) -> None:
        headers = {**token_issuer.of_person("ann"), "origin": self.PORTAL, "sec-fetch-site": "cross-site"}
        reply = guarded.post("/chat", json=CROP, headers=headers)
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers

    def test_gets_answers_with_a_token_where_it_is_named(self, serve: Serve, token_issuer: TokenIssuer) -> None:
        service = serve(token_issuer=token_issuer.url, token_audience=AUDIENCE, cors_origins=f"{self.PORTAL},")
        asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
        before = service.options("/chat", headers={"origin": self.PORTAL, **asked})
        assert before.headers["access-control-allow-origin"] == self.PORTAL
        headers = {"origin": self.PORTAL, "sec-fetch-site": "cross-site"}
        reply = service.post("/chat", json=CROP, headers={**token_issuer.of_person("ann"), **headers})
        assert reply.is_success
        assert reply.headers["access-control-allow-origin"] == self.PORTAL
        assert service.post("/chat", json=CROP, headers=headers).status_code == 401

    def test_is_still_refused_where_another_one_is_named(self, serve: Serve, token_issuer: TokenIssuer) -> None:
        service = serve(token_issuer=token_issuer.url, token_audience=AUDIENCE, cors_origins=self.PORTAL)
        for origin in ("https://evil.example", "https://portal.example.com.evil.example", "http://portal.example.com"):
            headers = {**token_issuer.of_person("ann"), "origin": origin, "sec-fetch-site": "cross-site"}
            reply = service.post("/chat", json=CROP, headers=headers)
            assert reply.status_code == 403
            assert "access-control-allow-origin" not in reply.headers
