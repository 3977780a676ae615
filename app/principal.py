"""Who asks: the user whose conversations these are, and what an access control list may name them by."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass

LOCAL_USER = "local"
USER_ID = "x-ms-client-principal-id"
USER_NAME = "x-ms-client-principal-name"
CLAIMS = "x-ms-client-principal"
EASY_AUTH_HEADERS = (USER_ID, USER_NAME, CLAIMS)
_GROUP_CLAIMS = frozenset(
    {"groups", "roles", "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
     "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"}
)  # fmt: skip
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Principal:
    """A user. ``names`` are the user and groups that chunks may be restricted to; without any, only what is for all."""

    user_id: str = LOCAL_USER
    names: tuple[str, ...] = ()


def principal_of(headers: Mapping[str, str], *, easy_auth: bool) -> Principal | None:
    """Who a request is from, by what Easy Auth put before it; ``None`` when it should have and did not.

    Header format: https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities.
    Without Easy Auth anybody can send these headers, so nobody is believed and all are the local user.
    """
    if not easy_auth:
        return Principal()
    user_id, name = headers.get(USER_ID, "").strip(), headers.get(USER_NAME, "").strip()
    known = user_id or name
    if not known or len(known) > _LONGEST_ID or not known.isprintable():
        return None
    names = dict.fromkeys(filter(None, (user_id, name, *_groups(headers.get(CLAIMS, "")))))
    return Principal(known, tuple(names))


def _groups(encoded: str) -> tuple[str, ...]:
    """Groups and roles of the claims, which are base64 of JSON; those that cannot be read grant nothing."""
    try:
        claims = json.loads(base64.b64decode(encoded, validate=True))["claims"]
        return tuple(str(claim["val"]) for claim in claims if claim["typ"] in _GROUP_CLAIMS)
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
        return ()
