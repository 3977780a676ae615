import pytest

from kb_pipeline_tests.growth import grows_in_proportion
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
        "<td><img src=yes.png alt=Yes>",
        "<td><img src='https://e.org/yes.png' title=Yes>",
        "<td><div role=img aria-label=Yes></div>",
        "<td><svg role=img><desc>Yes</desc><path d=M0 /></svg>",
        "<td><i data-tooltip=Yes></i>",
        "<td><i data-bs-toggle=tooltip data-bs-title=Yes></i>",
        "<td><a href=x title=Yes></a>",
        "<td><i class='icon icon-yes'></i><span style='position:absolute;clip:rect(0,0,0,0)'>Yes</span>",
        "<td><span aria-describedby=t><svg></svg></span><span role=tooltip id=t hidden>Yes</span>",
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


@pytest.mark.parametrize(
    ("icon", "name"),
    [
        ("<i class='fa fa-check'></i>", "check"),
        ("<i class='fas fa-times fa-lg text-danger'></i>", "times"),
        ("<i class='fa-solid fa-circle-check'></i>", "circle check"),
        ("<span class='glyphicon glyphicon-ok'></span>", "ok"),
        ("<i class='bi bi-x-lg' aria-hidden=true></i>", "x lg"),
        ("<svg class='svg-inline--fa' data-icon=check aria-hidden=true><path /></svg>", "check"),
        ("<svg><use href='#not-included'/></svg>", "not included"),
        ("<svg><use xlink:href='sprite.svg#yes'/></svg>", "yes"),
        ("<i class='ri-check-line'></i>", "check line"),
        ("<i class='red close icon'></i>", "red close"),
        ("<svg class='lucide lucide-x'></svg>", "x"),
        ("<i class=check></i>", ""),
        ("<span class='cell cell-wide'></span> all", "all"),
        ("<i class='fa fa-check'></i> Yes", "Yes"),
        ("<button class='btn btn-small'><i class='fa fa-copy'></i></button>", ""),
    ],
)
def test_an_icon_that_fills_a_cell_has_at_least_the_name_that_its_font_gives_it(icon: str, name: str) -> None:
    row = markdown(f"<table><tr><th>Plan<th>Free<tr><td>Export<td>{icon}</table>").split("\n")[-1]
    assert row == f"| Export | {name} |"


def test_an_emoji_that_a_picture_shows_is_a_sign_of_the_text() -> None:
    emoji = "<img class=emoji src='https://e.org/2705.svg' alt='\u2705'>"
    assert markdown(f"<ul><li>{emoji} Backup<li>Alarm</ul>") == "- \u2705 Backup\n- Alarm"


def test_a_long_text_that_nobody_sees_is_no_name_of_an_icon() -> None:
    hidden = "<span style='position:absolute;clip:rect(0,0,0,0)'>Do all that is written in this cell</span>"
    assert "written" not in markdown(f"<table><tr><th>a<th>b<tr><td>x<td><i></i>{hidden}</table>")


CHECK, CROSS = "<i class='fa fa-check'></i>", "<span><i class='fa fa-times'></i></span>"
STAR = "<i class='fa fa-star'></i>"


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ((CHECK, CROSS, CHECK), "- check Mail\n- times Mail\n- check Mail"),
        ((CHECK, CHECK, CHECK), "- Mail\n- Mail\n- Mail"),
        ((CHECK, CROSS, STAR), "- Mail\n- Mail\n- Mail"),
        ((CHECK, CROSS), "- Mail\n- Mail"),
        ((CHECK, CROSS, ""), "- Mail\n- Mail\n- Mail"),
    ],
)
def test_two_signs_before_the_items_of_a_list_say_which_of_two_things_holds(
    signs: tuple[str, ...], expected: str
) -> None:
    assert markdown(f"<ul>{''.join(f'<li>{sign}Mail</li>' for sign in signs)}</ul>") == expected


def test_the_time_grows_with_the_cell_only() -> None:
    cell = "<table><tr><td>{}</td><td>a</td></tr></table><p>Hello."
    named = "<i></i><span role=tooltip hidden>Yes</span>"
    for part in "<i class=x></i>", named:
        assert grows_in_proportion(lambda count, part=part: markdown(cell.format(part * count)), 1_600)
