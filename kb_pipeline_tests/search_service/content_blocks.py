"""Two indexes that somebody else filled: ``content-blocks`` and ``documents-metadata``, about three documents."""

from collections.abc import Callable, Sequence
from typing import Any

from kb_pipeline_tests.search_service.running import RunningService

Embed = Callable[[str], Sequence[float]]
Field = dict[str, Any]

RING = "Grease the slewing ring of the crane every week."
DIAGRAM = "Diagram of the slewing ring with its four nipples"
DIAGRAM_URL = "https://pictures.blob.example/crane%20ring.png?sv=2026&sig=a%2Bb"
BUDGET = "The budget for the crane grows by four per cent."
TRAVEL = "Book the train when a crane must be looked at."

BLOCKS: tuple[dict[str, Any], ...] = (
    {"block_id": "b1", "doc_id": "d1", "page_number": 3, "block_type": "text", "content": RING},
    {
        **{"block_id": "b2", "doc_id": "d1", "page_number": 4, "block_type": "image"},
        **{"image_url": DIAGRAM_URL, "image_caption": DIAGRAM},
    },
    {
        **{"block_id": "b3", "doc_id": "d2", "page_number": 1, "block_type": "text"},
        **{"content": BUDGET, "access_control_list": ["finance"]},
    },
    {
        **{"block_id": "b4", "doc_id": "d3", "page_number": None, "block_type": "text"},
        **{"content": TRAVEL, "access_control_list": ["ann", "hr"]},
    },
)
DOCUMENTS: tuple[dict[str, Any], ...] = (
    {
        **{"doc_id": "d1", "filename": "crane.pdf", "title": "Crane Handbook", "document_type": "Manual"},
        **{"upload_date": "2024-05-31T22:30:00Z", "author": "Ann Lee", "department": "engineering", "page_count": 12},
        **{"summary_brief": "How to keep the crane.", "summary_standard": "How to keep the crane.\n\nAnd its ring."},
    },
    {
        **{"doc_id": "d2", "filename": "budget.pdf", "title": "budget 2024", "document_type": "Report"},
        **{"upload_date": "2024-03-01T08:00:00+02:00", "author": "Bo Chen", "department": "finance", "page_count": 3},
        **{"summary_brief": "What the crane costs.", "access_control_list": ["finance"]},
    },
    {
        **{"doc_id": "d3", "filename": "travel.docx", "title": "Travel Policy", "document_type": "Policy"},
        **{"department": "hr", "access_control_list": ["ann", "hr"]},
    },
)


def field(name: str, kind: str = "Edm.String", **uses: object) -> Field:
    return {"name": name, "type": kind, "retrievable": True, **uses}


def vector_field(name: str, dimensions: int) -> Field:
    uses = {"searchable": True, "dimensions": dimensions, "vectorSearchProfile": "p", "retrievable": False}
    return field(name, "Collection(Edm.Single)", **uses)


def block_fields(dimensions: int) -> list[Field]:
    return [
        field("block_id", key=True),
        field("doc_id", filterable=True),
        field("page_number", "Edm.Int32", filterable=True),
        field("block_type", filterable=True),
        field("content", searchable=True),
        vector_field("content_vector", dimensions),
        field("image_url"),
        field("image_caption", searchable=True),
        vector_field("image_caption_vector", dimensions),
        field("access_control_list", "Collection(Edm.String)", filterable=True),
    ]


def document_fields() -> list[Field]:
    sorted_by = {"filterable": True, "sortable": True}
    return [
        field("doc_id", key=True, **sorted_by),
        field("filename", searchable=True, **sorted_by),
        field("title", searchable=True),
        field("document_type", **sorted_by),
        field("upload_date", "Edm.DateTimeOffset", **sorted_by),
        field("author", searchable=True, **sorted_by),
        field("department", **sorted_by),
        field("page_count", "Edm.Int32", **sorted_by),
        field("summary_brief", searchable=True),
        field("summary_standard", searchable=True),
        field("access_control_list", "Collection(Edm.String)", filterable=True),
    ]


def without(fields: list[Field], *names: str) -> list[Field]:
    return [each for each in fields if each["name"] not in names]


def changed(fields: list[Field], name: str, **uses: object) -> list[Field]:
    return [{**each, **uses} if each["name"] == name else each for each in fields]


def fill_blocks(fake: RunningService, fields: list[Field], embed: Embed) -> None:
    """Make ``content-blocks`` with these fields, and fill those that there are."""
    vectors = {"algorithms": [{"name": "h", "kind": "hnsw"}], "profiles": [{"name": "p", "algorithm": "h"}]}
    rows = [
        {
            **block,
            "content_vector": list(embed(block["content"])) if "content" in block else None,
            "image_caption_vector": list(embed(block["image_caption"])) if "image_caption" in block else None,
        }
        for block in BLOCKS
    ]
    _fill(fake, "content-blocks", {"fields": fields, "vectorSearch": vectors}, rows)


def fill_documents(
    fake: RunningService, fields: list[Field] | None = None, rows: Sequence[dict[str, Any]] = DOCUMENTS
) -> None:
    """Make ``documents-metadata`` with these fields, and fill those that there are."""
    _fill(fake, "documents-metadata", {"fields": fields or document_fields()}, rows)


def _fill(fake: RunningService, name: str, definition: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    fake.service.put("indexes", name, {"name": name, **definition}, None, None)
    known = {each["name"] for each in definition["fields"]}
    for row in rows:
        values = {key: value for key, value in row.items() if key in known and value is not None}
        assert fake.service.documents[name].apply(values)[0] == 201, row
