"""Links to pictures in what a tool returns to programs, for those that cannot ask this service with a token.

Not here: how links are signed (:mod:`kb_pipeline.store.azure_sas`). What readers see, and what a conversation keeps,
has the addresses of the service.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from app.callers.principal import Principal
from app.grounding.citations import IMAGE_ROUTE, is_elsewhere
from app.library.images import visible_image_paths
from app.settings import AppSettings
from kb_pipeline.records import SearchHit
from kb_pipeline.store.azure_sas import BlobLinks
from kb_pipeline.store.layout import Layout

_IN_MARKDOWN = re.compile(rf"(?<=\]\(){IMAGE_ROUTE}([^\s()<>]+)(?=\))")


class ImageLinks:
    """Puts a link in the place of each address of a picture that a call found and its asker may see."""

    def __init__(self, layout: Layout, links: BlobLinks) -> None:
        self._layout = layout
        self._links = links

    async def put_into(self, value: Mapping[str, Any], hits: Sequence[SearchHit], who: Principal) -> dict[str, Any]:
        """The value of a call that found these hits, with links. An address of any other picture stays what it is.

        Raises:
            KnowledgeBaseError: the storage account or an access list cannot be asked.
        """
        links = await asyncio.to_thread(self._of, hits, who)
        return {name: _with_links(each, links) for name, each in value.items()}

    def _of(self, hits: Iterable[SearchHit], who: Principal) -> Mapping[str, str]:
        """Links by the path below the serving folder."""
        paths = dict.fromkeys(path for hit in hits for path in hit.chunk.image_urls if not is_elsewhere(path))
        return {path: self._links.link(path) for path in visible_image_paths(self._layout, paths, who)}


def open_image_links(settings: AppSettings, layout: Layout) -> ImageLinks | None:
    """Opens the links if ``KB_IMAGE_URLS`` says so; ``None`` if addresses are those of the service.

    Raises:
        SettingsError: nothing can sign links to the serving folder.
    """
    if settings.image_urls == "proxy":
        return None
    return ImageLinks(layout, BlobLinks(layout.serving_root))


def _with_links(value: object, links: Mapping[str, str]) -> object:
    """JSON with a link for each address, be it a text of its own or a target in markdown."""
    match value:
        case str():
            path = unquote(value.removeprefix(IMAGE_ROUTE)) if value.startswith(IMAGE_ROUTE) else ""
            return links.get(path) or _IN_MARKDOWN.sub(lambda found: links.get(unquote(found[1]), found[0]), value)
        case Mapping():
            return {name: _with_links(each, links) for name, each in value.items()}
        case list() | tuple():
            return [_with_links(each, links) for each in value]
    return value
