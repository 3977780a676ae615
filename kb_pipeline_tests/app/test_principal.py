"""Who asks, by Easy Auth's headers."""

import base64
import json

import pytest

from app.principal import Principal, principal_of


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
