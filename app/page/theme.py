"""The page's own style sheet, for what Streamlit's theme cannot express; the browser chooses light or dark colours."""

from functools import cache
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent


def dress() -> None:
    """Apply the style sheet and show the wordmark."""
    st.logo(str(_HERE / "wordmark.svg"), size="large", icon_image=str(_HERE / "mark.svg"))
    st.html(f"<style>{_style()}</style>")


@cache
def colours() -> str:
    """The colours of light and dark, as CSS."""
    light, dark = ((_HERE / f"colours-{name}.css").read_text(encoding="utf-8") for name in ("light", "dark"))
    # not chosen here: Streamlit's own colours change with the system's at once, without asking the server
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}}}"


@cache
def _style() -> str:
    return "\n".join((colours(), *((_HERE / name).read_text(encoding="utf-8") for name in ("style.css", "print.css"))))
