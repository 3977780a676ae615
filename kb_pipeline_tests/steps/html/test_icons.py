import pytest

from kb_pipeline_tests.steps.html.pages import image, markdown


@pytest.mark.parametrize(
    "cell",
    [
        "<td><span title=Yes></span>",
        "<td><i class='fa fa-check' aria-label=Yes></i>",
        "<td><i class='fa fa-check' aria-hidden=true title=Yes></i>",
        "<td><i class='fa fa-check' aria-hidden=true title=Yes></i><span class=sr-only>Yes</span>",
        "<td><svg role=img><title>Yes</title><path d=M0 /></svg>",
        "<td><svg role=img aria-labelledby=t><title id=t>Yes</title></svg>",
        "<td><svg aria-label=Yes><use href='#yes'/></svg>",
        "<td><a href=x><i title=Yes></i></a>",
        "<td><abbr title=Yes><i class=y></i></abbr>",
        "<td title=Yes class=y>",
        "<td><img src=tick.png alt=Yes>",
    ],
)
def test_the_name_of_an_icon_fills_its_cell(cell: str) -> None:
    row = markdown(f"<table><tr><th>Plan<th>Free<tr><td>Export{cell}</table>", image("tick.png", 16, 16)).split("\n")[
        -1
    ]
    assert row.replace("[Yes](x)", "Yes") == "| Export | Yes |"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Click the <i title=Settings></i> icon.", "Click the Settings icon."),
        ("<p>Click <i title=Settings></i> Settings.", "Click Settings."),
        ("<ul><li><svg><title>Done</title></svg> Backup</ul>", "- Done Backup"),
        ("<p>See <a href=x>the site<svg aria-label='(opens in a new tab)'></svg></a>.", "See [the site](x)."),
        ("<h2>Head <span title=Permalink></span></h2>", "## Head"),
        ("<p>Words <i aria-hidden=true title=Arrow></i>", "Words"),
        ("<p>Words <i title='*'></i>", "Words"),
        ("<p>Words <span title=GONE style='display:none'></span>", "Words"),
        ("<p>Words <b title=Tip>bold</b>", "Words **bold**"),
    ],
)
def test_the_name_of_an_icon_stands_where_a_sentence_lacks_it(html: str, expected: str) -> None:
    assert markdown(html) == expected
