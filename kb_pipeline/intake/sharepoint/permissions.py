"""Who may read a file of SharePoint, by the permissions that Microsoft Graph lists of it.

Only who is surely meant counts. Whoever has a link that a whole organisation or everybody may follow is not known, nor
who may read only for a time; of a group's owners, Graph names the group as if all of its members were meant.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

_ROLES = frozenset({"read", "write", "owner", "sp.full control"})
"""Those that let read; a limited access to what lies below does not."""
_OF_EVERYBODY = ("c:0(.s|", "c:0-.f|rolemanager|")
"""How the names of SharePoint's own groups begin that are no group of a site: everyone, with or without guests."""
_OWNERS = "_o"
"""The end of the name of those who own a group."""


class Grant(NamedTuple):
    """A user or group of Entra ID by its id, or a group that only SharePoint knows by its name."""

    kind: Literal["user", "group", "site group"]
    name: str


Grants = frozenset[Grant]


def grants_of(permissions: Iterable[Mapping[str, Any]]) -> Grants:
    """Whom permissions let read."""
    return frozenset(grant for permission in permissions for grant in _of_one(permission))


def names_of(grants: Grants, groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of those in access lists; ``groups`` says who is in a group that only SharePoint knows."""
    names = (groups.get(name, ()) if kind == "site group" else (name,) for kind, name in sorted(grants))
    return tuple(dict.fromkeys(name for some in names for name in some))


def _of_one(permission: Mapping[str, Any]) -> Iterator[Grant]:
    link = permission.get("link") or {}
    if not _ROLES.intersection(permission.get("roles") or ()) or permission.get("expirationDateTime"):
        return
    if link and link.get("scope") != "users":
        return
    for identities in [permission.get("grantedToV2") or {}, *(permission.get("grantedToIdentitiesV2") or ())]:
        yield from _of_identities(identities)


def _of_identities(identities: Mapping[str, Any]) -> Iterator[Grant]:
    user, group, site_group, site_user = (identities.get(kind) or {} for kind in _KINDS)
    login = str(site_user.get("loginName") or "")
    if user.get("id"):
        yield Grant("user", str(user["id"]))
    elif group.get("id"):
        if not login.endswith(_OWNERS):
            yield Grant("group", str(group["id"]))
    elif site_group.get("displayName"):
        yield Grant("site group", str(site_group["displayName"]))
    elif login.startswith(_OF_EVERYBODY) and site_user.get("displayName"):
        yield Grant("site group", str(site_user["displayName"]))


_KINDS = ("user", "group", "siteGroup", "siteUser")
