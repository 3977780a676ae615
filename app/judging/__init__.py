"""Judges of statements, one module per backend.

Here: opening a judge by name. To add one, write its module and add a line to ``JUDGES``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.grounding.statements import Statement
from app.judging.base import Judge, Judged, Nobody, Verdict
from app.settings import AppSettings
from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener

if TYPE_CHECKING:
    from app.model.client import ChatClient

__all__ = ["JUDGES", "Judge", "Judged", "Statement", "Verdict", "open_judge"]

Opener = Callable[[AppSettings, "ChatClient | None"], Judge]


def _chat(settings: AppSettings, client: "ChatClient | None") -> Judge:
    from app.judging.chat import ChatJudge

    if client is None:
        raise SettingsError("KB_JUDGE is chat, but no model words answers; set KB_CHAT_MODEL, or another judge")
    return ChatJudge(settings, client)


def _onnx(settings: AppSettings, _client: "ChatClient | None") -> Judge:
    from app.judging.onnx_folder import OnnxFolderJudge

    return OnnxFolderJudge(settings.judge or "")


JUDGES: dict[str, Opener] = {"none": lambda *_: Nobody(), "chat": _chat, "onnx": _onnx}


def open_judge(settings: AppSettings, client: "ChatClient | None" = None) -> Judge:
    """Open the judge of the settings; unless they name one, the chat model judges where there is its ``client``.

    The client stays the caller's, who closes it. A ``package.module:Class`` is called with the settings and the client.

    Raises:
        SettingsError: no judge has this name, or it needs something that is not there.
        ModelError: the folder of a model lacks a file, or one of them is damaged.
    """
    name = settings.judge or ("chat" if client else "none")
    prefix = name.partition("/")[0]
    kind = name if ":" in name and prefix not in JUDGES else prefix
    return find_opener("KB_JUDGE", kind, JUDGES, Judge)(settings, client)  # type: ignore[type-abstract]
