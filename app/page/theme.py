"""How the page looks beyond what Streamlit's theme can say: its style sheet in the colours of light or dark."""

from functools import cache
from pathlib import Path
from typing import Literal

import streamlit as st

_HERE = Path(__file__).parent


def colours() -> Literal["light", "dark"]:
    """What the reader's browser shows now."""
    return "dark" if st.context.theme.type == "dark" else "light"


def dress() -> None:
    """Apply the style sheet and show the wordmark."""
    chosen = colours()
    st.logo(str(_HERE / f"wordmark-{chosen}.svg"), size="large", icon_image=str(_HERE / "mark.svg"))
    st.html(f"<style>{_style(chosen)}</style>")


@cache
def _style(chosen: str) -> str:
    names = (f"colours-{chosen}.css", "style.css")
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
