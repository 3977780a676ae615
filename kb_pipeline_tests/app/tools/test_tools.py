"""The three tools over 200 made documents: what they return, in which order, within which limits."""

import pytest
from jsonschema import Draft202012Validator

from app.callers.principal import Principal
from app.tools import AnyTool
from kb_pipeline_tests.app.tools.conftest import Call
from kb_pipeline_tests.app.tools.library import DATES, library

OPEN = [each for each in library() if not each.readers]
FINANCE = Principal.of("cho", department="finance")
NAMES = ["rag_semantic_search", "rag_list_documents", "rag_get_document"]


def test_their_schemas_are_valid_and_stand_alone(tools: dict[str, AnyTool]) -> None:
    assert list(tools) == NAMES
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.parameters_schema)
        assert "$ref" not in str(tool.parameters_schema)
        assert "user_context" not in str(tool.parameters_schema)
        assert tool.function_tool_schema["function"]["name"] == tool.name


def test_the_arguments_have_the_agreed_names_and_defaults(tools: dict[str, AnyTool]) -> None:
    def properties(name: str) -> dict[str, dict[str, object]]:
        return tools[name].parameters_schema["properties"]  # type: ignore[no-any-return]

    search, listing, get = map(properties, NAMES)
    assert (list(search), search["top_k"]["default"]) == (["query", "top_k", "filters", "mode"], 10)
    assert (list(listing), listing["sort_by"]["default"]) == (["filters", "sort_by", "limit"], "upload_date")
    assert listing["limit"]["default"] == 20
    assert list(get) == ["doc_id"]


def test_a_search_returns_text_and_images_with_file_and_page(call: Call) -> None:
    found = call("rag_semantic_search", query=f"{OPEN[0].mark} budget", filters={"doc_id": OPEN[0].doc_id})
    assert (found["success"], found["result_count"]) == (True, 2)
    text, image = sorted(found["results"], key=lambda block: block["block_type"], reverse=True)
    assert (text["block_id"], text["block_type"], text["page_number"]) == ("doc-000-0", "text", 2)
    assert OPEN[0].mark in text["content"]
    assert (image["block_type"], image["page_number"]) == ("image", 3)
    assert image["image_url"] == "/api/images/doc-000/images/chart.png"
    assert OPEN[0].mark in image["image_caption"]
    for block in (text, image):
        assert (block["doc_id"], block["filename"]) == ("doc-000", "doc-000.pdf")
        assert block["score"] > 0


def test_ten_blocks_are_the_default_and_fifty_the_most(call: Call) -> None:
    assert call("rag_semantic_search", query="budget")["result_count"] == 10
    assert call("rag_semantic_search", query="budget", top_k=50)["result_count"] == 50


def test_nothing_found_is_a_success(call: Call) -> None:
    nothing = call("rag_semantic_search", query="budget", filters={"department": "no such"})
    assert nothing == {"success": True, "results": [], "result_count": 0}
    none = call("rag_list_documents", filters={"department": "no such"})
    assert none == {"success": True, "documents": [], "count": 0, "total": 0}


def test_the_newest_documents_come_first_unless_told_otherwise(call: Call) -> None:
    dates = [each["upload_date"] for each in call("rag_list_documents")["documents"]]
    assert len(dates) == 20
    assert dates == sorted((each.upload_date for each in OPEN), reverse=True)[:20]
    titles = [each["title"] for each in call("rag_list_documents", sort_by="title", limit=500)["documents"]]
    assert titles == sorted(f"Guide {each.doc_id}" for each in OPEN)


def test_a_listed_document_has_its_facts_and_short_summary(call: Call) -> None:
    listed = call("rag_list_documents", filters={"doc_id": "doc-007"})["documents"]
    (expected,) = (each for each in OPEN if each.doc_id == "doc-007")
    assert [(each["doc_id"], each["filename"], each["title"]) for each in listed] == [
        ("doc-007", "doc-007.pdf", "Guide doc-007")
    ]
    assert listed[0]["document_type"] == expected.document_type
    assert listed[0]["upload_date"] == expected.upload_date
    assert expected.mark in listed[0]["summary_brief"]


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        ({"document_type": "report"}, lambda each: each.document_type == "Report"),
        ({"document_type": ["Manual", "POLICY"]}, lambda each: each.document_type in ("Manual", "Policy")),
        ({"department": "Finance", "author": "bo o'brien"}, lambda each: _finance_by_bo(each)),
        ({"upload_date": DATES[0]}, lambda each: each.upload_date == DATES[0]),
        ({"upload_date": {"from": "2024-11-01"}}, lambda each: each.upload_date >= "2024-11-01"),
        (
            {"upload_date": {"from": "2024-02-01", "to": "2024-03-31"}},
            lambda each: "2024-02" <= each.upload_date < "2024-04",
        ),
        ({"filename": "DOC-014.PDF"}, lambda each: each.doc_id == "doc-014"),
        ({"language": "en", "doc_id": ["doc-007", "doc-001"]}, lambda each: each.doc_id == "doc-007"),
        (None, lambda each: True),
    ],
)
def test_filters_choose_documents(call: Call, filters: dict[str, object], fits) -> None:
    listed = call("rag_list_documents", filters=filters, limit=500)
    assert {each["doc_id"] for each in listed["documents"]} == {each.doc_id for each in OPEN if fits(each)}
    assert listed["count"] == listed["total"] > 0
    found = call("rag_semantic_search", query="budget", top_k=50, filters=filters)
    assert {each["doc_id"] for each in found["results"]} <= {each["doc_id"] for each in listed["documents"]}


def _finance_by_bo(each) -> bool:
    return (each.department, each.author) == ("finance", "Bo O'Brien")


@pytest.mark.parametrize(
    ("filters", "kinds", "pages"),
    [
        ({"block_type": "image"}, {"image"}, {3}),
        ({"block_type": ["text"]}, {"text"}, {2}),
        ({"page_number": 2}, {"text"}, {2}),
        ({"page_number": {"from": 3, "to": 9}}, {"image"}, {3}),
        ({"page_number": {"to": 3}}, {"image", "text"}, {2, 3}),
    ],
)
def test_filters_choose_blocks(call: Call, filters: dict[str, object], kinds: set[str], pages: set[int]) -> None:
    found = call("rag_semantic_search", query="budget", top_k=50, filters=filters)["results"]
    assert {each["block_type"] for each in found} == kinds
    assert {each["page_number"] for each in found} == pages


def test_a_document_is_shown_with_its_summary(call: Call) -> None:
    got = call("rag_get_document", doc_id="doc-007")["document"]
    assert (got["doc_id"], got["filename"], got["title"]) == ("doc-007", "doc-007.pdf", "Guide doc-007")
    assert (got["page_count"], got["headings"]) == (7, [{"text": "Budget", "page_number": 2}])
    assert got["summary_brief"] in got["summary_standard"]


def test_a_tool_finds_what_the_asker_may_see(call: Call) -> None:
    assert not call("rag_get_document", doc_id="doc-002")["success"]
    assert call("rag_get_document", FINANCE, doc_id="doc-002")["document"]["doc_id"] == "doc-002"
    assert call("rag_list_documents", FINANCE)["total"] > call("rag_list_documents")["total"]
