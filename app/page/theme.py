"""The page's own style sheet, in light or dark colours, for what Streamlit's theme cannot express."""

from functools import cache
from pathlib import Path
from typing import Literal

import streamlit as st

_HERE = Path(__file__).parent


def colours() -> Literal["light", "dark"]:
    """The colour scheme of the reader's browser."""
    return "dark" if st.context.theme.type == "dark" else "light"


def dress() -> None:
    """Apply the style sheet and show the wordmark."""
    scheme = colours()
    st.logo(str(_HERE / f"wordmark-{scheme}.svg"), size="large", icon_image=str(_HERE / "mark.svg"))
    st.html(f"<style>{_style(scheme)}</style>")


@cache
def _style(scheme: str) -> str:
    names = (f"colours-{scheme}.css", "style.css")
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
