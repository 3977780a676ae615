"""Who may read a file here, as its permissions in SharePoint are in this run."""

from collections.abc import Mapping
from functools import lru_cache

from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.sharepoint.graph import GraphApi
from kb_pipeline.intake.sharepoint.libraries import File, Libraries
from kb_pipeline.intake.sharepoint.permissions import Grants, grants_of, names_of

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
