"""What the fake of Content Understanding finds in what it is sent: markdown in documents, fields in images."""

import io
from collections.abc import Mapping
from typing import Any

from PIL import Image, UnidentifiedImageError

from kb_pipeline_tests.content_understanding_documents import document_pages
from kb_pipeline_tests.content_understanding_markdown import cu_markdown
from kb_pipeline_tests.vision_reader import seen_on

Json = dict[str, Any]

PAGE_MODELS = ("prebuilt-analyzer-completion-mini", "gpt-4.1-mini", "text-embedding-3-large")
NO_MODEL: Json = {
    "status": "Failed",
    "error": {
        "code": "InvalidRequest",
        "message": "Invalid Request.",
        "innererror": {
            "code": "ResourceError",
            "message": "This analyzer needs a 'completion' model deployment for current request, but none was found.",
        },
    },
}
_ONE_PAGE: Json = {"kind": "document", "path": "input1", "startPageNumber": 1, "endPageNumber": 1, "unit": "pixel"}


def read_page(defaults: Mapping[str, str], body: bytes, content_type: str) -> Json:
    """The last status of an analysis by prebuilt-documentSearch."""
    if not all(defaults.get(model) for model in PAGE_MODELS):
        return NO_MODEL
    summary = {"fields": {"Summary": {"type": "string", "valueString": "An article."}}}
    if content_type.startswith("text/html"):
        if len(body) > 1_000_000:
            return invalid("InvalidContentLength")
        return _succeeded(_ONE_PAGE | summary | {"mimeType": "text/html", "markdown": cu_markdown(body.decode())}, 2)
    texts = document_pages(body, content_type)
    if texts is None:
        return invalid("InvalidContentType")
    starts = [sum(map(len, texts[:number])) for number in range(len(texts))]
    pages = [
        {"pageNumber": number, "spans": [{"offset": start, "length": len(text)}]}
        for number, (start, text) in enumerate(zip(starts, texts, strict=True), 1)
    ]
    whole = {"mimeType": content_type, "markdown": "".join(texts), "endPageNumber": len(pages), "pages": pages}
    return _succeeded(_ONE_PAGE | summary | whole, len(pages))


def _succeeded(content: Json, pages: int) -> Json:
    usage = {
        "documentPagesMinimal": pages,
        "contextualizationTokens": 1000,
        "tokens": {"gpt-4.1-mini-input": 199, "gpt-4.1-mini-output": 106, "text-embedding-3-large-input": 50},
    }
    return {"status": "Succeeded", "result": {"contents": [content]}, "usage": usage}


def look_at_image(defaults: Mapping[str, str], analyzer: Json, body: bytes) -> Json:
    """The last status of an analysis by an analyzer for images."""
    if not defaults.get(analyzer["models"]["completion"]):
        return NO_MODEL
    try:
        with Image.open(io.BytesIO(body)) as image:
            width, height = image.size
    except UnidentifiedImageError:
        return invalid("InvalidImage")
    if min(width, height) < 50 or max(width, height) > 10_000:
        return invalid("InvalidImageDimensions")
    content = _ONE_PAGE | {
        "mimeType": "image/png",
        "markdown": "![image](pages/1)\n",
        "fields": _fields(analyzer["fieldSchema"]["fields"], body),
        "pages": [{"pageNumber": 1, "spans": []}],
    }
    usage = {"contextualizationTokens": 1000, "tokens": {"gpt-4.1-input": 900, "gpt-4.1-output": 80}}
    return {"status": "Succeeded", "result": {"contents": [content]}, "usage": usage}


def invalid(code: str) -> Json:
    inner = {"code": code, "message": "The input is not as documented."}
    return {"status": "Failed", "error": {"code": "InvalidRequest", "message": "Invalid request.", "innererror": inner}}


def _fields(schema: Mapping[str, Json], png: bytes) -> Json:
    """Values for the fields of a schema."""
    seen = seen_on(png)
    read: Mapping[str, str | tuple[str, ...]] = {
        "Description": seen.description,
        "UIElements": seen.ui_elements,
        "NavigationPath": seen.navigation_path,
    }
    return {name: _value(one["type"], read.get(name, "")) for name, one in schema.items()}


def _value(kind: str, read: str | tuple[str, ...]) -> Json:
    if kind == "array":
        return {"type": "array", "valueArray": [_value("string", item) for item in read]}
    return {"type": "string", "valueString": read}
