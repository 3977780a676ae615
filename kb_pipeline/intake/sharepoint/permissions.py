"""Who may read a file of SharePoint, by the permissions that Microsoft Graph lists of it.

Only who is surely meant counts. Whoever has a link that a whole organisation or everybody may follow is not known, nor
who may read only for a time; of a group's owners, Graph names the group as if all of its members were meant.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.sharepoint.graph import GraphApi
from kb_pipeline.intake.sharepoint.libraries import File, Libraries

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


_KNOWN = 20_000
"""Files whose permissions are remembered within a run: pictures are shown by many pages."""


class Readers:
    """The readers of files; ``declared`` are those of the source, ``groups`` who is in a site's own groups."""

    def __init__(
        self, api: GraphApi, copy: Libraries, declared: tuple[str, ...], groups: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._api, self._copy, self._declared, self._groups = api, copy, declared, groups
        self.grants = lru_cache(_KNOWN)(self._read_grants)

    def of(self, file: File | None) -> tuple[str, ...] | None:
        """Users and groups that may read a file; ``None`` if that is not told.

        Declared readers may where all may who may read its library: there nothing restricts the file.
        """
        grants = self.grants(file.item) if file else None
        if file is None or grants is None:
            return None
        if self._declared:
            general = self.grants(f"{file.library}/{self._copy.root(file.library)[0]}")
            if general and general <= grants:
                return self._declared
        return names_of(grants, self._groups) or None

    def may_see(self, file: File | None, picture: File) -> bool:
        """Whether all who may read a file may also see a picture."""
        readers, seeing = self.grants(file.item) if file else None, self.grants(picture.item)
        return readers is not None and seeing is not None and readers <= seeing

    def _read_grants(self, item: str) -> Grants | None:
        """Whom a file or folder lets read, by its library and id; ``None`` if that may not be asked."""
        library, _, own = item.partition("/")
        try:
            return grants_of(self._api.entries(f"/drives/{library}/items/{own}/permissions"))
        except DeniedError:
            return None
