"""Pages of chunks: each word of a chunk has the page on which it stands in the document."""

import random
import re

import pytest

from kb_pipeline.records import Chunk, PageInfo
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline_tests.steps.chunk.articles import chunk, image, sentence


def chunks_of(article: str, max_tokens: int = 1000, min_tokens: int = 0) -> list[Chunk]:
    return chunk(article, max_tokens, min_tokens, pages=(PageInfo(number=1),))


def shown(chunk: Chunk) -> list[tuple[int, str]]:
    """The page and the first word of each of its parts."""
    return [(one.page, chunk.content[one.offset :].split()[0]) for one in chunk.page_breaks]


def test_each_chunk_begins_on_a_page() -> None:
    article = "<!-- page 1 -->\n\n# A\n\ntext\n\n<!-- page 2: ii -->\n\nmore\n\n## B\n\nlast\n"
    first, second = chunks_of(article)
    assert (first.content, shown(first)) == ("# A\n\ntext\n\nmore", [(1, "#"), (2, "more")])
    assert [one.label for one in first.page_breaks] == ["", "ii"]
    assert (shown(second), second.page_breaks[0].label, second.pages) == ([(2, "##")], "ii", (2,))


def test_text_before_the_first_page_is_on_it() -> None:
    (only,) = chunks_of("early\n\n<!-- page 1 -->\n\nlate\n")
    assert shown(only) == [(1, "early"), (1, "late")]


def test_a_page_without_text_is_in_no_chunk() -> None:
    article = "<!-- page 1 -->\n\n# A\n\na\n\n<!-- page 2 --> <!-- page 3 -->\n\n# B\n\nb\n\n<!-- page 4 -->\n"
    assert [one.pages for one in chunks_of(article)] == [(1,), (3,)]


def test_a_page_that_begins_inside_of_a_sentence_or_word_is_found_there() -> None:
    (only,) = chunks_of("<!-- page 1 -->\n\n# A\n\none <!-- page 2 --> two, hyphen<!-- page 3 -->ated\n")
    assert only.content == "# A\n\none two, hyphenated"
    assert shown(only) == [(1, "#"), (2, "two,"), (3, "ated")]


def test_small_sections_that_share_a_chunk_keep_their_pages() -> None:
    article = "<!-- page 1 -->\n\n# A\n\na b c d e\n\n<!-- page 2 -->\n\n## B\n\nx\n\n<!-- page 3 -->\n\n## C\n\ny\n"
    (only,) = chunks_of(article, min_tokens=4)
    assert shown(only) == [(1, "#"), (2, "##"), (3, "##")]


def test_a_repeated_header_is_on_the_page_of_its_rows() -> None:
    rows = [f"| row{i} | {sentence(f'cell{i}x', 6)} |" for i in range(12)]
    rows[5] = f"| <!-- page 2 --> {rows[5][2:]}"
    article = "\n".join(["<!-- page 1 -->", "", "# A", "", "| row5 | Value |", "| --- | --- |", *rows, ""])
    parts = chunks_of(article, max_tokens=40)
    assert len(parts) > 2
    for part in parts:
        for number in map(int, re.findall(r"row(\d+) \| cell", part.content)):
            page = part.page_at(part.content.index(f"row{number} | cell"))
            assert page and page.page == (1 if number < 5 else 2)


def test_lines_of_cut_code_have_their_pages() -> None:
    lines = [f"call{i}(argument{i})" for i in range(40)]
    article = "<!-- page 1 -->\n\n# A\n\n<!-- page 2 from line 21 -->\n\n```python\n" + "\n".join(lines) + "\n```\n"
    parts = chunks_of(article, max_tokens=15)
    assert len(parts) > 2
    assert {line: page_of(part, line) for part in parts for line in lines if line in part.content} == {
        line: 1 if number < 20 else 2 for number, line in enumerate(lines)
    }


def test_the_text_of_a_chunk_never_says_where_pages_begin() -> None:
    article = "<!-- page 1 -->\n\n# A\n\n`<!-- page 9 -->` a <!-- page 2: iv --> b\n\n```\n<!-- page 9 -->\n```\n"
    (only,) = chunks_of(article)
    assert only.content == "# A\n\n`<!-- page 9 -->` a b\n\n```\n<!-- page 9 -->\n```"
    assert "page 2" not in embedding_text(only)


def test_an_article_without_pages_is_read_as_it_is() -> None:
    (only,) = chunk("a <!-- page 2 --> b\n")
    assert (only.content, only.page_breaks, only.filename) == ("a <!-- page 2 --> b", (), "")


def test_pages_and_file_name_are_part_of_what_readers_see() -> None:
    document = {"path": "document/manual.pdf", "sha256": "0", "size": 1, "media_type": "application/pdf"}
    plain, paged = chunk("a\n"), chunks_of("<!-- page 1 -->\n\na\n")
    (named,) = chunk("a\n", document=document)
    assert named.filename == "manual.pdf"
    assert len({plain[0].content_hash, paged[0].content_hash, named.content_hash}) == 3
    assert plain[0].id == paged[0].id == named.id


def page_of(chunk: Chunk, text: str) -> int:
    page_break = chunk.page_at(chunk.content.index(text))
    assert page_break
    return page_break.page


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("max_tokens", [12, 40, 1000])
def test_every_word_has_its_page_however_sections_are_cut(seed: int, max_tokens: int) -> None:
    """Words are ``p<page>w<number>``; the article has blocks of all kinds."""
    chance = random.Random(seed)
    page, number, blocks = 1, 0, ["<!-- page 1 -->"]

    def say(count: int) -> str:
        nonlocal number
        number += count
        return " ".join(f"p{page}w{number - i}" for i in range(count))

    for _ in range(30):
        kind = chance.choice(["heading", "text", "flowing", "list", "table", "code", "image", "quote"])
        if chance.random() < 0.4 and kind != "code":
            page += 1
            blocks.append(f"<!-- page {page}: L{page} -->")
        if kind == "heading":
            blocks.append(f"{'#' * chance.randint(1, 4)} {say(2)}")
        elif kind == "text":
            blocks.append(". ".join(say(chance.randint(1, 9)) for _ in range(4)) + ".")
        elif kind == "flowing":
            first = say(5)
            page += 1
            blocks.append(f"{first} <!-- page {page} --> {say(6)}.")
        elif kind == "list":
            items = []
            for _ in range(6):
                item = f"- {say(4)}"
                page += 1
                items.append(f"{item} <!-- page {page} -->")
            blocks.append("\n".join([*items, f"- {say(3)}"]))
        elif kind == "table":
            rows = ["| head | other |", "| --- | --- |"]
            for _ in range(8):
                page += 1
                rows.append(f"| <!-- page {page} --> {say(2)} | {say(3)} |")
            blocks.append("\n".join(rows))
        elif kind == "code":
            before = [say(2) for _ in range(6)]
            page += 1
            begin = f"<!-- page {page} from line 7 -->"
            blocks += [begin, "\n".join(["```sh", *before, *(say(2) for _ in range(6)), "```"])]
        elif kind == "image":
            blocks.append(image("dialog", say(6)).replace("OK, Cancel", "p0w0").strip())
        else:
            blocks.append("\n".join(f"> {say(3)}" for _ in range(4)))
    for part in chunks_of("\n\n".join(blocks) + "\n", max_tokens):
        assert part.page_breaks[0].offset == 0
        for match in re.finditer(r"p(\d+)w\d+", part.content):
            if match[1] != "0":
                found = part.page_at(match.start())
                assert found and found.page == int(match[1]), (match[0], found, part.content)
