"""The widget's routes: sites that are named embed it, their visitors see what everybody may, and nobody else asks."""

import httpx
import pytest

from app.callers.principal import VISITOR
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, read_audit
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.token_issuer import AUDIENCE, TokenIssuer

SITE = "https://help.example.com"
FROM_SITE = {"origin": SITE, "sec-fetch-site": "cross-site"}
ASK, CROP, SALARY = "/api/widget/answer", "How do I crop a layer?", "What is the salary of the director?"
TABLE = "/api/widget/images/secret/images/table.png"


def asked(service: httpx.Client, question: str = CROP, **headers: str) -> httpx.Response:
    return service.post(ASK, json={"question": question}, headers={**FROM_SITE, **headers})


@pytest.fixture
def service(serve: Serve) -> httpx.Client:
    return serve(widget_origins=(SITE,))


def test_an_answer_comes_as_elements_with_its_sources_and_pictures(service: httpx.Client) -> None:
    reply = asked(service)
    said = reply.json()
    assert "Crop to Content" in str(said["answer"])
    assert said["sources"][0] == {
        "number": 1,
        "name": "Layers › Crop a layer",
        "quotes": ["Choose Layer, then Crop to Content, to crop a layer to what it shows."],
        "url": None,
    }
    assert said["more"] and "chunk_id" not in reply.text and "run_id" not in reply.text
    (path,) = {each[1] for block in said["answer"] for each in block if isinstance(each, list) and each[0] == "img"}
    picture = service.get(path, headers=FROM_SITE)
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    assert picture.headers["access-control-allow-origin"] == SITE


def test_it_is_off_until_a_site_is_named(serve: Serve) -> None:
    service = serve(cors_origins=(SITE,))
    assert service.get("/widget.js").status_code == 404
    reply = asked(service)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "not_a_widget_site")
    assert "answer" not in reply.json()


@pytest.mark.parametrize(
    "origin",
    [
        *("", "null", "https://evil.example", "http://help.example.com", "https://help.example.com:8443"),
        *(
            "https://help.example.com.evil.example",
            "https://a.help.example.com",
            "https://HELP.example.com "[:-1] + "x",
        ),
    ],
)
def test_pages_of_other_sites_get_nothing(service: httpx.Client, origin: str) -> None:
    headers = {"origin": origin} if origin else {}
    for reply in (
        service.post(ASK, json={"question": CROP}, headers=headers),
        service.get("/api/widget/images/layers/images/crop.png", headers=headers),
        service.options(ASK, headers={**headers, "access-control-request-method": "POST"}),
    ):
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers


def test_a_browser_is_told_which_site_may_ask_and_with_what(service: httpx.Client) -> None:
    wish = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}
    reply = service.options(ASK, headers={**FROM_SITE, **wish})
    assert reply.headers["access-control-allow-origin"] == SITE
    assert "access-control-allow-credentials" not in reply.headers
    assert "frame-ancestors 'none'" in asked(service).headers["content-security-policy"]


def test_a_site_of_the_widget_gets_nothing_of_the_rest(service: httpx.Client) -> None:
    reply = service.post("/chat", json={"question": CROP}, headers=FROM_SITE)
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in service.get("/api/articles", headers=FROM_SITE).headers


def test_the_script_is_for_everybody_and_small(service: httpx.Client) -> None:
    reply = service.get("/widget.js", headers={"sec-fetch-site": "cross-site"})
    assert reply.headers["content-type"].startswith("text/javascript")
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
    assert len(reply.content) <= 15_000
    assert service.get("/widget.js", headers={"if-none-match": reply.headers["etag"]}).status_code == 304


@pytest.mark.parametrize("settings", [{}, {"easy_auth": True}, {"local_user": "group-hr"}])
def test_visitors_see_what_everybody_may_also_where_the_owner_of_the_machine_sees_more(
    serve: Serve, settings: dict[str, object]
) -> None:
    service = serve(widget_origins=(SITE,), **settings)
    assert "Crop to Content" in asked(service).text
    assert not any(told in asked(service, SALARY).text for told in ("12345", "Salaries"))
    assert service.get(TABLE, headers=FROM_SITE).status_code == 404
    about = service.post(ASK, json={"question": SALARY, "document_ids": ["secret"]}, headers=FROM_SITE)
    assert "12345" not in about.text


def test_whoever_signed_in_has_their_own_rights(serve: Serve) -> None:
    service = serve(widget_origins=(SITE,), easy_auth=True)
    ann, bob = signed_in("ann", "group-hr"), signed_in("bob")
    assert "12345" in asked(service, SALARY, **ann).text
    assert "12345" not in asked(service, SALARY, **bob).text
    assert service.get(TABLE, headers={**FROM_SITE, **ann}).status_code == 200
    assert service.post("/chat", json={"question": CROP}).status_code == 401


def test_a_site_passes_the_token_of_who_signed_in_there(serve: Serve, token_issuer: TokenIssuer) -> None:
    service = serve(widget_origins=(SITE,), token_issuer=token_issuer.url, token_audience=AUDIENCE)
    assert "Crop to Content" in asked(service).text
    assert "12345" not in asked(service, SALARY).text
    assert "12345" in asked(service, SALARY, **token_issuer.of_person("ann", "group-hr")).text
    assert asked(service, SALARY, Authorization="Bearer wrong").status_code == 401
    assert asked(service, SALARY, **signed_in("ann", "group-hr")).status_code == 200
    assert "12345" not in asked(service, SALARY, **signed_in("ann", "group-hr")).text


@pytest.mark.parametrize(
    "body", [{}, {"question": " "}, {"question": "x", "top_k": 50}, {"question": "x", "mode": "all"}]
)
def test_a_visitor_asks_one_question_and_nothing_more(service: httpx.Client, body: dict[str, object]) -> None:
    assert service.post(ASK, json=body, headers=FROM_SITE).status_code == 422


def test_a_refusal_says_so_and_the_log_says_that_a_visitor_asked(serve: Serve, own: Settings) -> None:
    service = serve(own.model_copy(update={"audit": "all"}), widget_origins=(SITE,))
    said = asked(service, "Who won the football championship of 1954?").json()
    assert said["answer"] and said["sources"] == []
    lines = [line for line in read_audit(own.home_path / "audit") if isinstance(line, AuditLine)]
    assert (lines[-1].action, lines[-1].who.strip()) == ("ask", VISITOR.user_id.strip())
    assert service.get("/api/conversations").json()["conversations"] == []
