"""``metadata.json`` is read strictly where it may say who can read an article, and cleaned everywhere else."""

import json
from time import process_time

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import ArticleMetadata
from kb_pipeline.steps.metadata import LARGEST_METADATA, may_be_metadata_file, read_metadata

BOM = "\ufeff"


def read(values: object) -> ArticleMetadata:
    return read_metadata(json.dumps(values).encode()).metadata


def test_all_fields_are_read() -> None:
    values = {
        "title": "Pay",
        "source_url": "https://example.com/pay?a=1#b",
        "language": "de-AT",
        "key_topics": ["pay", "leave"],
        "access_control_list": ["hr", "boss@example.com"],
        "main": "pay.docx",
        "document_type": "Manual",
        "department": "Human Resources",
        "author": "Ann Lee, Bo",
        "upload_date": "2024-05-31",
    }
    assert read(values).model_dump(mode="json") == values
    assert read_metadata((BOM + "{}").encode()).metadata == ArticleMetadata()


def test_sentences_about_pictures_are_known_and_whatever_their_names_restrict_nobody() -> None:
    said = {"access_control.png": "The list of groups.", "permissions.png": "The rights.", "acl.jpg": "A list."}
    assert read_metadata(json.dumps({"images": said}).encode()) == (ArticleMetadata(), ())


@pytest.mark.parametrize(
    "misplaced",
    [{"access_control_list": ["hr"]}, {"access_control_list": "hr"}, [{"acl": ["hr"]}], {"a.png": {"acl": ["hr"]}}],
)
def test_a_list_of_readers_below_the_pictures_refuses_the_file(misplaced: object) -> None:
    with pytest.raises(UnreadableArticleError, match="misspelt or misplaced"):
        read({"images": misplaced})


# --- who may read the article --------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        *(
            "Access_Control_List",
            "access-control-list",
            "accessControlList",
            "acces_control_list",
            "access_controll_list",
        ),
        *("access_control_lists", " access_control_list", "access_control_list\u200b", "\u0430ccess_control_list"),
        *(
            "\uff41ccess_control_list",
            "accesscontrol",
            "access_list",
            "access",
            "acl",
            "ACLs",
            "allowed_groups",
            "groups",
        ),
        *(
            "roles",
            "readers",
            "viewers",
            "permissions",
            "restricted_to",
            "visibility",
            "visible_to",
            "private",
            "users",
        ),
        *("acl_groups", "read_access", "user_access", "groups_allowed", "allowed_principals", "reader_groups"),
        *("readable_by", "who_can_read"),
    ],
)
def test_a_key_that_may_be_meant_as_the_access_list_refuses_the_file(key: str) -> None:
    with pytest.raises(UnreadableArticleError, match="misspelt or misplaced"):
        read({key: ["hr"]})
    with pytest.raises(UnreadableArticleError, match=r"misspelt or misplaced|differ only in how"):
        read({"access_control_list": ["hr"], key: ["hr"]})


@pytest.mark.parametrize(
    "nested",
    [{"meta": {"access_control_list": ["hr"]}}, {"a": [{"b": {"acl": 1}}]}, {"x": {"Access_Control_List": []}}],
)
def test_an_access_list_at_another_place_refuses_the_file(nested: object) -> None:
    with pytest.raises(UnreadableArticleError, match="misspelt or misplaced"):
        read(nested)


@pytest.mark.parametrize(
    "values",
    [
        {"visibility": "public"},
        {"private": False},
        {"restricted": None},
        {"permissions": []},
        {"accessRights": "Everyone"},
        {"accessMode": "textual, visual"},
        {"access_token": "x"},
        {"author": {"name": "Ann", "role": "Editor"}, "contributors": [{"user": "bob", "groups": ["writers"]}]},
    ],
)
def test_what_content_management_systems_export_beside_it_hides_no_article(values: object) -> None:
    assert read(values) == ArticleMetadata()


@pytest.mark.parametrize(
    "key",
    ["product", "version", "audience", "accessibility", "status", "tags", "allow_comments", "accessed_at"],
)
def test_other_keys_are_ignored_with_a_warning(key: str) -> None:
    metadata, warnings = read_metadata(json.dumps({key: "x"}).encode())
    assert metadata == ArticleMetadata()
    assert warnings == (f"metadata.json: '{key}' is an unknown field and was ignored",)


@pytest.mark.parametrize(
    "value",
    [
        "hr",
        None,
        [""],
        ["hr", " "],
        ["hr", 3],
        [["hr"]],
        {"hr": True},
        True,
        ["h\0r"],
        ["hr\u202e"],
        ["\ud800"],
    ],
)
def test_a_list_that_is_none_refuses_the_file(value: object) -> None:
    with pytest.raises(UnreadableArticleError, match="access_control_list"):
        read({"access_control_list": value})


@pytest.mark.parametrize("key", ["acs" * 300_000, "access_control_list" * 50_000, "\ufdfa" * 300_000])
def test_a_long_key_is_not_compared_for_long(key: str) -> None:
    started = process_time()
    assert read_metadata(json.dumps({key: 1}, ensure_ascii=False).encode()).metadata == ArticleMetadata()
    assert process_time() - started < 5


@pytest.mark.slow("builds a whole knowledge base")
def test_of_very_many_unknown_fields_only_the_first_are_named() -> None:
    warnings = read_metadata(json.dumps({f"k{number}": 1 for number in range(50_000)}).encode()).warnings
    assert len(warnings) == 21
    assert "49,980 more" in warnings[-1]


def test_names_are_trimmed_and_doubled_ones_are_one() -> None:
    assert read({"access_control_list": [" hr ", "hr", "Boss"]}).access_control_list == ("hr", "Boss")


@pytest.mark.parametrize(
    "text",
    [
        '{"access_control_list": ["hr"], "access_control_list": []}',
        '{"title": "a", "title": "b"}',
        '{"x": {"a": 1, "a": 2}}',
        '{"access_control_list": ["hr"], "\\u0061ccess_control_list": []}',
    ],
)
def test_a_key_that_stands_twice_refuses_the_file(text: str) -> None:
    with pytest.raises(UnreadableArticleError, match="occurs twice"):
        read_metadata(text.encode())


@pytest.mark.parametrize(
    "key", ["Access_Control_List", "ａccess_control_list", "аccess_control_list", "access_control_list "]
)
def test_a_second_list_under_a_key_that_looks_alike_refuses_the_file(key: str) -> None:
    with pytest.raises(UnreadableArticleError, match=r"misspelt|differ only in how"):
        read({"access_control_list": ["hr"], key: []})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b'"hr"', b"null", b"{", b"\xff\xfe{}", b"\x00", b'{"n": NaN}', b'{"n": Infinity}'),
        *(b'{"a":' * 100_000, b"[" * 100_000, b'{"n":' + b"9" * 10_000 + b"}"),
        b'{"title": "' + b"x" * LARGEST_METADATA + b'"}',
    ],
)
def test_what_is_no_json_object_of_reasonable_size_refuses_the_file(data: bytes) -> None:
    with pytest.raises(
        UnreadableArticleError, match="the article is hidden from everybody until it is mended"
    ) as refused:
        read_metadata(data)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "name",
    [
        "Metadata.json",
        "metadata.JSON",
        "metadata.json.txt",
        "meta-data.json",
        "metdata.json",
        "metadata .json",
        "metadata(1).json",
        "metadata.jsn",
        "metadata.josn",
        "\uff4d\uff45\uff54\uff41\uff44\uff41\uff54\uff41.\uff4a\uff53\uff4f\uff4e",
    ],
)
def test_files_that_were_meant_to_be_it_are_recognised(name: str) -> None:
    assert may_be_metadata_file(name)


@pytest.mark.parametrize(
    "name",
    [
        *("index.html", "data.json", "package.json", "metadata.xml", "shot.png", "manifest.json", "metadata.js"),
        *("page-metadata.json", "exif_metadata.json"),
    ],
)
def test_other_files_are_not_taken_for_it(name: str) -> None:
    assert not may_be_metadata_file(name)


# --- everything else -----------------------------------------------------------------------------


def test_text_loses_control_direction_and_invisible_characters_as_html_does() -> None:
    metadata = read(
        {"title": " Pay\u202e\u2066\x00\n\u200broll \ufeff", "key_topics": ["\x07", "a\u202eb", "a b", " a  b "]}
    )
    assert metadata.title == "Pay roll"
    assert metadata.key_topics == ("ab", "a b")


def test_halves_of_characters_are_replaced_and_whole_ones_kept() -> None:
    assert read_metadata(b'{"title": "a\\ud800b \\ud83d\\ude00"}').metadata.title == "a\ufffdb \U0001f600"


@pytest.mark.parametrize(
    "address",
    [
        *(
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " java\nscript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "//evil",
        ),
        *(
            "/relative",
            "ftp://x/y",
            "https://",
            "https://a b",
            'https://a"onclick=x',
            "https://a<b",
            "https://a\u202eb",
            "vbscript:x",
        ),
    ],
)
def test_an_address_that_is_not_of_the_web_is_left_out_with_a_warning(address: str) -> None:
    metadata, warnings = read_metadata(json.dumps({"source_url": address}).encode())
    assert metadata.source_url is None
    assert "source_url" in warnings[0]


def test_what_is_no_language_and_too_long_a_title_are_mended_with_a_warning() -> None:
    metadata, warnings = read_metadata(json.dumps({"language": "<b>", "title": "x" * 10_000}).encode())
    assert metadata.language is None
    assert metadata.title is not None
    assert len(metadata.title) == 500
    assert len(warnings) == 2


# --- facts about a document ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "read_as"),
    [
        ("author", ["Ann", " Bo\n Lee "], "Ann, Bo Lee"),
        ("author", "", ""),
        ("upload_date", "2024-05-31T23:59:00Z", "2024-05-31"),
        ("upload_date", None, ""),
        ("document_type", " Annual\treport ", "Annual report"),
        ("department", "Vertrieb & Söhne", "Vertrieb & Söhne"),
    ],
)
def test_facts_are_cleaned(name: str, value: object, read_as: str) -> None:
    found = read_metadata(json.dumps({name: value}).encode())
    assert (getattr(found.metadata, name), found.warnings) == (read_as, ())


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("author", {"name": "Ann"}, "a text"),
        ("author", [["Ann"]], "a text"),
        ("document_type", 7, "a text"),
        ("department", "x" * 201, "at most 200 characters"),
        ("upload_date", "31.05.2024", "a date (2024-05-31)"),
        ("upload_date", "2024-02-30", "a date (2024-05-31)"),
        ("upload_date", "soon", "a date (2024-05-31)"),
    ],
)
def test_a_fact_that_cannot_be_used_is_left_out_with_a_warning(name: str, value: object, wanted: str) -> None:
    found = read_metadata(json.dumps({name: value, "title": "Pay"}).encode())
    assert (getattr(found.metadata, name), found.metadata.title) == ("", "Pay")
    (warning,) = found.warnings
    assert warning.startswith(f"metadata.json: {name} is not ")
    assert wanted in warning


def test_a_restriction_inside_a_fact_is_no_fact() -> None:
    with pytest.raises(UnreadableArticleError, match="access_control_list"):
        read({"author": {"name": "Ann", "access_control_list": ["hr"]}})
