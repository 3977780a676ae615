"""What is sent to the service in these tests, and ways to spoil what it answers."""

from collections.abc import Callable
from typing import Any

from PIL import Image

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.records import ConvertedArticle
from kb_pipeline.settings import Settings
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService
from kb_pipeline_tests.pictures import DIALOG, encode, screenshot

POST, RESULT = ":analyzeBinary", "/analyzerResults/"
PAGE = (
    b"<body><h1>Passwords</h1><p>Open <a href='profile.html'>your profile</a> first.</p><p><img src='menu.image'></p>"
    b"<p>Then choose a new one.</p><table><tr><th>Rule</th><th>Value</th></tr>"
    b"<tr><td>Length</td><td>12 characters</td></tr></table></body>"
)
MENU = screenshot("Profile", "Reset password", size=DIALOG)
IMAGES = {"menu.image": probe_image("menu.image", MENU)}
WHITE = encode(Image.new("RGB", (60, 60), "white"))

Spoil = Callable[[dict[str, Any]], object]


def analyzer_of(service: ContentUnderstandingService, **more: object) -> Analyzer:
    return open_analyzer(Settings(**service.settings(**more)))


def convert(analyzer: Analyzer) -> ConvertedArticle:
    return analyzer.convert("passwords", PAGE, IMAGES)


def spoilt_field(name: str, value: Any) -> Spoil:
    """Images get another value for a field; None takes the field away."""

    def spoil(last: dict[str, Any]) -> None:
        fields = last["result"]["contents"][0]["fields"]
        fields.pop(name)
        fields.update({} if value is None else {name: value})

    return spoil


def failing(code: str, message: str) -> Spoil:
    """Analyses fail as the service's do."""
    inner = {"code": code, "message": message}
    error = {"code": "InvalidRequest", "message": "Invalid request.", "innererror": inner}
    return lambda last: last.update(status="Failed", error=error, result={"contents": []})
