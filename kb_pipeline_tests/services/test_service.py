"""What services on the network refuse is told to a person: what happened, where, and which setting to look at."""

import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from azure.core import PipelineClient
from azure.core.exceptions import AzureError, ClientAuthenticationError, DecodeError
from azure.core.rest import HttpRequest
from azure.identity import ManagedIdentityCredential
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, SettingsError, TransientError
from kb_pipeline.secrets import HIDDEN
from kb_pipeline.services.service import Service, azure_credential, retry_after
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.managed_identity import ManagedIdentity, signed_in

KEY = "0123456789abcdef0123456789abcdef"
SEARCH = Service(
    name="Azure AI Search",
    endpoint="https://kb.search.windows.net",
    endpoint_setting="KB_SEARCH_ENDPOINT",
    key_setting="KB_SEARCH_API_KEY",
    role="Search Index Data Contributor",
    key=SecretStr(KEY),
)
AUDIENCE = "https://search.azure.com"


@pytest.mark.parametrize(
    ("status", "error", "named"),
    [
        (400, ServiceError, "(400)"),
        (
            401,
            ServiceRefusedError,
            "check KB_SEARCH_API_KEY, or without a key give this identity the role Search Index",
        ),
        (403, ServiceRefusedError, "check KB_SEARCH_API_KEY"),
        (404, ServiceRefusedError, "check KB_SEARCH_ENDPOINT"),
        (408, TransientError, "(408)"),
        (409, TransientError, "(409)"),
        (412, ServiceError, "(412)"),
        (413, ServiceError, "(413)"),
        (429, TransientError, "is busy (429)"),
        (500, TransientError, "(500)"),
        (502, TransientError, "(502)"),
        (503, TransientError, "(503)"),
        (504, TransientError, "(504)"),
        (522, TransientError, "(522)"),
        (
            307,
            ServiceRefusedError,
            "redirects to another address (307): the words of the service; redirects are not followed, check KB_S",
        ),
        (200, ServiceError, "cannot be read (200)"),
    ],
)
def test_a_refusal_names_service_status_words_and_setting(status: int, error: type[Exception], named: str) -> None:
    refusal = SEARCH.refused(status, "the  words\nof the service")
    assert type(refusal) is error
    assert named in str(refusal)
    assert "Azure AI Search at https://kb.search.windows.net" in str(refusal)
    assert "the words of the service" in str(refusal)


def test_where_no_identity_helps_none_is_spoken_of() -> None:
    assert "identity" not in str(
        Service("OpenAI", "https://x", "KB_OPENAI_BASE_URL", "KB_OPENAI_API_KEY", "").refused(401)
    )


def test_silence_and_absence_are_passing_and_name_their_settings() -> None:
    assert isinstance(SEARCH.silent(30), TransientError)
    assert "30 s; try again, or raise KB_SERVICE_TIMEOUT_SECONDS" in str(SEARCH.silent(30))
    assert isinstance(SEARCH.unreachable("no route"), TransientError)
    assert "(no route); check KB_SEARCH_ENDPOINT" in str(SEARCH.unreachable("no route"))


# --- the time to wait ------------------------------------------------------------------------------


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"x-ms-retry-after-ms": "soon", "Retry-After": "7"}, 7),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "Fri, 31 Feb 2026 00:00:00 GMT"}, None),
        ({"Retry-After": "Sun, 22 Nov 2026 08:00:00 -0000"}, None),
        ({}, None),
    ],
)
def test_a_time_to_wait_is_seconds_milliseconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_in_the_future_is_waited_for() -> None:
    assert retry_after({"Retry-After": in_seconds(90)}) == pytest.approx(90, abs=2)


@given(st.text(max_size=40))
def test_any_header_is_survived(text: str) -> None:
    assert retry_after({"Retry-After": text}) is None or retry_after({"Retry-After": text}) >= 0


# --- clients built on azure.core -------------------------------------------------------------------


def ask(url: str, **options: float) -> Response:
    """What such a client does: ask, and raise what is not good."""
    with PipelineClient(url, retry_total=0, **options) as client:
        response = client.send_request(HttpRequest("GET", url))
        response.raise_for_status()
        return response


def refusing(status: int, words: str = "the words of the service", **headers: str) -> OwnModel:
    answer = {"error": {"code": "Refused", "message": words}}
    return OwnModel(lambda *_: JSONResponse(answer, status, headers))


@pytest.mark.parametrize(
    ("status", "error"), [(400, ServiceError), (401, ServiceRefusedError), (404, ServiceRefusedError)]
)
def test_what_azure_clients_raise_becomes_ours(status: int, error: type[KnowledgeBaseError]) -> None:
    with (
        refusing(status) as server,
        pytest.raises(error, match=rf"\({status}\).*the words of the service"),
        SEARCH.translated_errors(),
    ):
        ask(server.url)


def test_the_time_to_wait_is_passed_on() -> None:
    waiting = refusing(429, **{"Retry-After": "7"})
    with waiting as server, pytest.raises(TransientError) as raised, SEARCH.translated_errors():
        ask(server.url)
    assert raised.value.retry_after == 7


def test_nobody_there_is_passing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with (
        pytest.raises(TransientError, match=r"cannot be reached.*check KB_SEARCH_ENDPOINT"),
        SEARCH.translated_errors(),
    ):
        ask(address)


def test_an_answer_that_never_comes_is_passing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TransientError), SEARCH.translated_errors():
            ask(address, read_timeout=0.2)


def test_an_answer_that_cannot_be_read_is_not_taken_for_a_refusal() -> None:
    with pytest.raises(TransientError, match="Azure AI Search"), SEARCH.translated_errors():
        raise AzureError("the stream ended in the middle")
    with pytest.raises(KnowledgeBaseError, match="Azure AI Search"), SEARCH.translated_errors():
        raise DecodeError("no JSON")


def test_what_is_ours_already_stays_as_it_is() -> None:
    ours = ServiceError("said already")
    with pytest.raises(ServiceError) as raised, SEARCH.translated_errors():
        raise ours
    assert raised.value is ours


# --- identity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("virtual_machine", [False, True], ids=["app", "virtual machine"])
def test_tokens_are_of_this_process_own_identity_for_that_audience(
    monkeypatch: pytest.MonkeyPatch, virtual_machine: bool
) -> None:
    with signed_in(monkeypatch, virtual_machine=virtual_machine) as identity:
        tokens = SEARCH.tokens(f"{AUDIENCE}/.default")
        assert identity.accepts(f"Bearer {tokens()}", AUDIENCE)
        assert not identity.accepts(f"Bearer {tokens()}", "https://storage.azure.com")
        assert identity.audiences == [AUDIENCE]


def test_a_token_is_kept_until_shortly_before_it_expires(managed_identity: ManagedIdentity) -> None:
    tokens = SEARCH.tokens(f"{AUDIENCE}/.default")
    assert tokens() == tokens()
    managed_identity.lifetime = 60
    other = SEARCH.tokens("https://storage.azure.com/.default")
    assert other() != other()


def test_all_services_share_one_credential(managed_identity: ManagedIdentity) -> None:
    for _ in range(2):
        SEARCH.tokens(f"{AUDIENCE}/.default")()
    assert azure_credential() is azure_credential()
    assert len(managed_identity.tokens) == 1


def test_a_process_without_an_identity_is_told_what_to_do(managed_identity: ManagedIdentity) -> None:
    managed_identity.status = 400
    with pytest.raises(ServiceRefusedError) as raised:
        SEARCH.tokens(f"{AUDIENCE}/.default")()
    assert "no token for Azure AI Search at https://kb.search.windows.net: set KB_SEARCH_API_KEY, or let" in str(
        raised.value
    )
    assert "the role Search Index Data Contributor" in str(raised.value)


@pytest.mark.parametrize(
    ("said", "passing"),
    [
        ("App Service managed identity configuration not found. Token request error: (invalid_scope) 503, Sorry", True),
        ("App Service managed identity configuration not found. Token request error: (invalid_scope) 429, Sorry", True),
        ("App Service managed identity configuration not found. Token request error: (invalid_scope) 400, None", False),
        ("HTTPSConnection(host='login.microsoftonline.com', port=443): Failed to resolve", True),
        ("ManagedIdentityCredential authentication unavailable. HTTPConnection(host='169.254.169.254')", False),
    ],
)
def test_whoever_gives_tokens_may_be_busy_or_away(said: str, passing: bool) -> None:
    told = SEARCH.no_token(f"Failed.\nAttempted credentials:\n\tManagedIdentityCredential: {said}\nTo mitigate")
    assert type(told) is (TransientError if passing else ServiceRefusedError)
    assert ("none was found" in str(told)) == ("unavailable" in said)


def test_a_busy_identity_is_passing(managed_identity: ManagedIdentity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azure.core.pipeline.transport.RequestsTransport.sleep", lambda *_: None)
    managed_identity.status = 503
    with pytest.raises(TransientError, match=r"no token for Azure AI Search .* now.*503"):
        SEARCH.tokens(f"{AUDIENCE}/.default")()


@pytest.mark.parametrize(
    ("name", "value"),
    [("AZURE_TOKEN_CREDENTIALS", "me"), ("AZURE_CLIENT_CERTIFICATE_PATH", "/no/such.pem"), ("AZURE_TENANT_ID", "a b")],
)
def test_variables_that_name_nobody_are_a_setting(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    whole = {"AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential", "AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "b"}
    secret = {} if name == "AZURE_CLIENT_CERTIFICATE_PATH" else {"AZURE_CLIENT_SECRET": "s"}
    for variable, says in (whole | secret | {name: value}).items():
        monkeypatch.setenv(variable, says)
    azure_credential.cache_clear()
    with pytest.raises(SettingsError, match="AZURE_"):
        SEARCH.tokens(f"{AUDIENCE}/.default")()


def test_the_same_is_told_by_a_client_that_signs_in_itself(managed_identity: ManagedIdentity) -> None:
    managed_identity.status = 400
    with pytest.raises(ServiceRefusedError, match="no token for Azure AI Search"), SEARCH.translated_errors():
        ManagedIdentityCredential().get_token(f"{AUDIENCE}/.default")


def test_what_entra_refuses_is_not_said_of_the_service() -> None:
    refusal = ClientAuthenticationError("AADSTS7000215: Invalid client secret provided.")
    refusal.status_code = 401
    with (
        pytest.raises(ServiceRefusedError, match=r"no token for Azure AI Search.*AADSTS7000215"),
        SEARCH.translated_errors(),
    ):
        raise refusal


def test_of_many_ways_to_sign_in_only_those_that_were_there_are_named() -> None:
    said = """DefaultAzureCredential failed to retrieve a token from the included credentials.
Attempted credentials:
\tEnvironmentCredential: Authentication failed: AADSTS7000215: Invalid client secret provided.
\tManagedIdentityCredential: ManagedIdentityCredential authentication unavailable.
\tAzureCliCredential: Azure CLI not found on path
To mitigate this issue, please refer to the troubleshooting guidelines here at https://aka.ms/x."""
    message = str(SEARCH.no_token(said))
    assert message.endswith(
        "EnvironmentCredential: Authentication failed: AADSTS7000215: Invalid client secret provided."
    )
    assert str(SEARCH.no_token(said.replace("Authentication failed", "unavailable"))).endswith("none was found")


# --- secrets ---------------------------------------------------------------------------------------

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwczovL3gifQ.c2lnbmF0dXJl"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        (f"wrong key {KEY}", KEY),
        (f"DefaultEndpointsProtocol=https;AccountName=kb;AccountKey={ACCOUNT_KEY};EndpointSuffix=x", ACCOUNT_KEY),
        ("https://kb.blob.core.windows.net/c?sv=2025&sig=abc%2Fdef%3D&se=2026", "abc%2Fdef%3D"),
        (f"Authorization: Bearer {JWT}", JWT),
        (f'{{"access_token": "{JWT}"}}', JWT),
        ('{"api-key": "f00dfacef00d"}', "f00dfacef00d"),
        ("Incorrect API key provided: sk-proj-abc***wxyz.", "wxyz"),
        ("key 1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AzSeAAAAAAAAA1B", "AzSe"),
    ],
)
def test_no_secret_that_a_service_quotes_is_passed_on(said: str, secret: str) -> None:
    for problem in (SEARCH.refused(400, said), SEARCH.unreachable(said), SEARCH.no_token(said)):
        assert secret not in str(problem)
        assert HIDDEN in str(problem)


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY}", f"{KEY[:9]}…", f"{KEY}\x00"])
def test_a_key_that_no_header_can_hold_is_never_sent_nor_told(key: str) -> None:
    with pytest.raises(SettingsError, match="KB_SEARCH_API_KEY holds characters that no key has") as raised:
        replace(SEARCH, key=SecretStr(key))
    assert key[1:9] not in str(raised.value)


def test_an_error_whose_own_cause_quotes_a_secret_is_not_chained() -> None:
    outer = ConnectionError("Connection error.")
    outer.__cause__ = ValueError(f"Illegal header value b'{KEY}'")
    assert SEARCH.safe_cause(outer) is None


def test_an_error_that_quotes_a_secret_is_not_chained_for_a_traceback_to_show() -> None:
    def failure(words: str) -> KnowledgeBaseError:
        with refusing(400, words) as server, pytest.raises(ServiceError) as raised, SEARCH.translated_errors():
            ask(server.url)
        return raised.value

    assert failure("the field is unknown").__cause__
    quoting = failure(f"no: {KEY}")
    assert quoting.__cause__ is None
    assert quoting.__suppress_context__


def test_the_key_is_in_no_representation_of_a_service() -> None:
    assert KEY not in f"{SEARCH!r} {SEARCH}"
