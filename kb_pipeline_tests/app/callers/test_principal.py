"""Who asks, by Easy Auth's headers."""

import base64
import json

import pytest

from app.callers.principal import Principal, principal_of
from app.settings import AppSettings, load_app_settings


def claims(*pairs: tuple[str, str]) -> str:
    return base64.b64encode(json.dumps({"claims": [{"typ": typ, "val": val} for typ, val in pairs]}).encode()).decode()


def test_without_easy_auth_nobody_is_believed() -> None:
    assert principal_of({"x-ms-client-principal-id": "ann"}, easy_auth=False) == Principal("local", ())


def test_a_user_is_named_by_id_name_groups_and_roles() -> None:
    headers = {
        "x-ms-client-principal-id": "id-1",
        "x-ms-client-principal-name": "ann@example.com",
        "x-ms-client-principal": claims(("groups", "g1"), ("roles", "support"), ("email", "ann@example.com")),
    }
    assert principal_of(headers, easy_auth=True) == Principal("id-1", ("id-1", "ann@example.com", "g1", "support"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-ms-client-principal-id": " "},
        {"x-ms-client-principal-id": "local"},
        {"x-ms-client-principal-id": "a\0b"},
        {"x-ms-client-principal-id": "x" * 201},
    ],
)
def test_nobody_is_nobody(headers: dict[str, str]) -> None:
    assert principal_of(headers, easy_auth=True) is None


@pytest.mark.parametrize(
    "broken", ["%%%", base64.b64encode(b"[]").decode(), base64.b64encode(b'{"claims": 1}').decode()]
)
def test_claims_that_cannot_be_read_grant_nothing(broken: str) -> None:
    headers = {"x-ms-client-principal-id": "ann", "x-ms-client-principal": broken}
    assert principal_of(headers, easy_auth=True) == Principal("ann", ("ann",))


def test_claims_that_the_settings_name_are_names_as_well() -> None:
    tenant = "http://schemas.microsoft.com/identity/claims/tenantid"
    headers = {
        "x-ms-client-principal-id": "ann",
        "x-ms-client-principal": claims(("groups", "g1"), ("department", "finance"), (tenant, "t1"), ("tid", "t2")),
    }
    assert principal_of(headers, easy_auth=True) == Principal("ann", ("ann", "g1"))
    named = principal_of(headers, easy_auth=True, access_claims=("department", "tid"))
    assert named == Principal("ann", ("ann", "finance", "t1", "t2"), department="finance", org_id="t1")


def test_whoever_asks_on_this_machine_can_be_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_app_settings().local_principal == Principal()
    monkeypatch.setenv("RAG_USER_ID", "user123")
    monkeypatch.setenv("RAG_DEPARTMENT", "engineering")
    monkeypatch.setenv("RAG_ORG_ID", "org456")
    names = ("user123", "engineering", "org456")
    assert load_app_settings().local_principal == Principal("user123", names, "engineering", "org456")
    monkeypatch.setenv("KB_LOCAL_USER", "ann")
    assert load_app_settings().local_principal.names == ("ann", "engineering", "org456")


@pytest.mark.parametrize("settings", [{"easy_auth": True}, {"app_host": "0.0.0.0"}, {"app_host": "10.0.0.5"}])
def test_nobody_is_made_somebody_by_the_environment_of_a_service_for_others(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    monkeypatch.setenv("RAG_USER_ID", "user123")
    monkeypatch.setenv("KB_LOCAL_DEPARTMENT", "finance")
    assert AppSettings(**settings).local_principal == Principal()  # type: ignore[arg-type]


def test_a_department_alone_leaves_the_local_user_what_they_are() -> None:
    assert Principal.of(department="finance") == Principal("local", ("finance",), department="finance")
    assert Principal.of() == Principal()
