"""The frame of all pages: theme, navigation, sidebar, and the panel for errors.

Streamlit runs this file from top to bottom at every interaction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from app.client import ServiceDownError
from app.page import (
    audience,
    away,
    chat,
    contributions,
    failures,
    gaps,
    knowledge_base,
    network,
    places,
    quality,
    shared,
    sidebar,
    usage,
)
from app.page.places import Place
from app.page.templates import render
from app.page.theme import dress

_NAME = "Knowledge base"
_ICON = Path(__file__).with_name("mark.svg")


@dataclass(frozen=True)
class _Area:
    """An entry of the navigation: one page or several, of which the first is opened. It is shown to whom it is for.

    All addresses work for everybody: who follows a link to a page that is not in their navigation sees it.
    """

    title: str
    icon: str
    audience: audience.Audience
    pages: Mapping[Place, tuple[str, Callable[[], None]]]
    """The title of each page, and what shows it."""


_AREAS = (
    _Area("Ask", ":material/forum:", audience.everybody, {"ask": ("Ask", chat.show)}),
    _Area(
        "Knowledge base",
        ":material/menu_book:",
        audience.everybody,
        {"knowledge-base": ("Knowledge base", knowledge_base.show)},
    ),
    _Area(
        "For authors",
        ":material/edit_note:",
        audience.authors,
        {"gaps": ("Gaps", gaps.show), "contributions": ("Contributions", contributions.show)},
    ),
    _Area(
        "Quality",
        ":material/monitoring:",
        audience.answerable,
        {"quality": ("Quality", quality.show), "usage": ("Usage", usage.show)},
    ),
    _Area("Shared answer", ":material/share:", audience.nobody, {"shared": ("Shared answer", shared.show)}),
)
_NETWORK = _Area("Network", ":material/hub:", audience.everybody, {"network": ("Network", network.show)})


def main() -> None:
    """Show the page of the current URL."""
    st.set_page_config(page_icon=str(_ICON), layout="centered")
    dress()
    may = audience.permissions()
    areas = (*_AREAS, *([_NETWORK] if network.is_there() else []))
    pages = {place: page for area in areas for place, page in _pages(area, is_shown=area.audience(may)).items()}
    places.set_pages(pages)
    page = st.navigation(list(pages.values()))
    area, title = next((each, each.pages[at][0]) for each in areas for at in each.pages if pages[at] is page)
    st.set_page_config(page_title=title if title == _NAME else f"{title} · {_NAME}")
    try:
        sidebar.show(may)
        if area.audience(may) and len(area.pages) > 1:
            titles = {place: name for place, (name, _) in area.pages.items()}
            st.html(render("views", "views", area.title, titles, title))
        page.run()
    except Exception as exc:
        failures.show_failure(exc)
        st.button("Try again", icon=":material/refresh:", key="try-again")
        if isinstance(exc, ServiceDownError):
            away.go_on_when_back()


def _pages(area: _Area, *, is_shown: bool) -> dict[Place, Page]:
    """The pages of an area, of which the navigation shows the first, by the name of the area."""
    first = next(iter(area.pages))
    return {
        place: st.Page(
            show,
            title=area.title if place == first else title,
            icon=area.icon,
            url_path=place,
            default=place == "ask",
            visibility="visible" if is_shown and place == first else "hidden",
        )
        for place, (title, show) in area.pages.items()
    }


main()
