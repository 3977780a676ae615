"""The caller of a request: the user id for conversations, and the names for access control lists."""

import base64
import binascii
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kb_pipeline.records import may_read

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
    """A user. ``names`` are the user and groups for access lists; without names, only unrestricted chunks match."""

    user_id: str = LOCAL_USER
    names: tuple[str, ...] = ()

    def may_read(self, readers: Collection[str]) -> bool:
        """Whether this person is one of the readers; an empty list means everybody."""
        return may_read(readers, self.names)


def principal_of(headers: Mapping[str, str], *, easy_auth: bool) -> Principal | None:
    """The caller by the headers of Easy Auth; ``None`` if Easy Auth is on and they are missing or not valid.

    Header format: https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities.
    Without Easy Auth anybody could send these headers, so they are ignored and everybody is the local user.
    """
    if not easy_auth:
        return Principal()
    user_id, name = headers.get(USER_ID, "").strip(), headers.get(USER_NAME, "").strip()
    caller = user_id or name
    if not caller or len(caller) > _LONGEST_ID or not caller.isprintable():
        return None
    names = dict.fromkeys(filter(None, (user_id, name, *_groups(headers.get(CLAIMS, "")))))
    return Principal(caller, tuple(names))


def _groups(encoded: str) -> tuple[str, ...]:
    """Groups and roles of the claims, which are JSON in base64; claims that cannot be read grant nothing."""
    try:
        claims = json.loads(base64.b64decode(encoded, validate=True))["claims"]
        return tuple(str(claim["val"]) for claim in claims if claim["typ"] in _GROUP_CLAIMS)
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
        return ()
