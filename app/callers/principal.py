"""The caller of a request: the user id for conversations, and the names for access control lists."""

import base64
import binascii
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from kb_pipeline.asking import Scope
from kb_pipeline.records import KnowledgeMode, may_read

LOCAL_USER = "local"
USER_ID = "x-ms-client-principal-id"
USER_NAME = "x-ms-client-principal-name"
CLAIMS = "x-ms-client-principal"
EASY_AUTH_HEADERS = (USER_ID, USER_NAME, CLAIMS)
_IN_FULL = {
    "groups": "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
    "roles": "http://schemas.microsoft.com/ws/2008/06/identity/claims/role",
    "tid": "http://schemas.microsoft.com/identity/claims/tenantid",
}
"""Claims that have a long name as well."""
ACCESS_CLAIMS = ("groups", "roles")
_LONGEST_ID = 200
"""Characters of a user's id: mail addresses and object ids are shorter; a store's key has room for more."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A user. ``names`` are the user and groups for access lists; without names, only unrestricted chunks match.

    ``department`` and ``org_id`` are among the names, where it is known which of them they are. ``mode`` is what of the
    knowledge base this request uses, "" what the settings say. It is here because every query is made for somebody, so
    that none can forget it; it makes nobody another person. ``scope`` is here for the same reason: the documents in
    which this request searches; ``None`` are all. ``is_operator``: they run this service, so they see the scores of
    searches, which tell others that there is something that they may not read.
    """

    user_id: str = LOCAL_USER
    names: tuple[str, ...] = ()
    department: str = ""
    org_id: str = ""
    mode: KnowledgeMode | Literal[""] = field(default="", compare=False)
    scope: Scope | None = field(default=None, compare=False)
    is_operator: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, user_id: str = "", department: str = "", org_id: str = "") -> "Principal":
        """The user with these names in access lists; the local user if none is given."""
        names = tuple(dict.fromkeys(filter(None, (user_id, department, org_id))))
        return cls(user_id or LOCAL_USER, names, department, org_id)

    def in_mode(self, mode: KnowledgeMode | None) -> "Principal":
        """The same person, who uses the knowledge base in this mode; ``None`` changes nothing."""
        return replace(self, mode=mode) if mode else self

    def in_scope(self, scope: Scope | None) -> "Principal":
        """The same person, who searches in these documents only."""
        return replace(self, scope=scope)

    def may_read(self, readers: Collection[str]) -> bool:
        """Whether this person is one of the readers; an empty list means everybody."""
        return may_read(readers, self.names)


VISITOR = Principal(" visitor")
"""Whoever asks by the widget of a site without signing in. A caller's id never begins with a space, as headers are
stripped, so nobody else is this person."""


def principal_of(
    headers: Mapping[str, str],
    *,
    easy_auth: bool,
    access_claims: Collection[str] = ACCESS_CLAIMS,
    local: Principal | None = None,
) -> Principal | None:
    """The caller by the headers of Easy Auth; ``None`` if Easy Auth is on and they are missing or not valid.

    Header format: https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities.
    The values of ``access_claims`` are names in access lists. Without Easy Auth anybody could send these headers, so
    they are ignored and everybody is the ``local`` user.
    """
    if not easy_auth:
        return local or Principal()
    user_id, name = headers.get(USER_ID, "").strip(), headers.get(USER_NAME, "").strip()
    return principal_with(user_id or name, name, _claims(headers.get(CLAIMS, "")), access_claims)


def principal_with(
    user_id: str, name: str, claims: Collection[tuple[str, str]], access_claims: Collection[str]
) -> Principal | None:
    """The user with this id, name, and kinds and values of claims; ``None`` if nobody can have this id."""
    user_id = user_id.strip()
    if not user_id or len(user_id) > _LONGEST_ID or not user_id.isprintable() or user_id == LOCAL_USER:
        return None
    wanted = {claim: (claim, _IN_FULL.get(claim, claim)) for claim in access_claims}
    kinds = {kind for both in wanted.values() for kind in both}
    names = dict.fromkeys(filter(None, (user_id, name, *(value for kind, value in claims if kind in kinds))))

    def only(claim: str) -> str:
        return next((value for kind, value in claims if kind in wanted.get(claim, ())), "")

    return Principal(user_id, tuple(names), only("department"), only("tid"))


def _claims(encoded: str) -> tuple[tuple[str, str], ...]:
    """Kinds and values of the claims, which are JSON in base64; claims that cannot be read grant nothing."""
    try:
        claims = json.loads(base64.b64decode(encoded, validate=True))["claims"]
        return tuple((str(claim["typ"]), str(claim["val"])) for claim in claims)
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
        return ()
