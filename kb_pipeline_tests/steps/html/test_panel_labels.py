import pytest

from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, markdown

ONE_AND_TWO = "**One**\n\nalpha\n\n**Two**\n\nbeta"


@pytest.mark.parametrize(
    "tabs",
    [
        "<ul role=tablist class=tabs><li role=tab>One<li role=tab>Two</ul>"
        "<div role=tabpanel>alpha</div><div role=tabpanel hidden>beta</div>",
        "<div role=tablist><button role=tab>One</button><button role=tab>Two</button></div>"
        "<div><section role=tabpanel>alpha</section><section role=tabpanel style='display:none'>beta</section></div>",
        "<div role=tablist><b role=tab id=t2>Two</b><b role=tab id=t1>One</b></div>"
        "<div role=tabpanel aria-labelledby=t1 hidden>alpha</div><div role=tabpanel aria-labelledby=t2>beta</div>",
        "<ul><li><button role=tab data-bs-target='#p1'>One</button><li><button role=tab data-bs-target='#p2'>Two"
        "</button></ul><div id=p1>alpha</div><div id=p2 style='display:none'>beta</div>",
        "<ul class=nav-tabs><li><a data-toggle=tab href='#p1'>One</a><li><a data-toggle=tab href='#p2'>Two</a></ul>"
        "<div class=tab-content><div id=p1>alpha</div><div id=p2 style='display:none'>beta</div></div>",
        "<div><button onclick=\"show('p1')\">One</button><button onclick=\"show('p2')\">Two</button></div>"
        "<div id=p1 style='display:none'>alpha</div><div id=p2 style='display:none'>beta</div>",
        "<div class=tabbed-set><input type=radio name=t id=r1 checked><input type=radio name=t id=r2>"
        "<div><label for=r1><a href='#x'>One</a></label><label for=r2>Two</label></div>"
        "<div><div>alpha</div><div>beta</div></div></div>",
        "<div class=sd-tab-set><input type=radio name=t id=r1 checked><label for=r1>One</label><div>alpha</div>"
        "<input type=radio name=t id=r2><label for=r2>Two</label><div>beta</div></div>",
        "<ul><li><a href='#p1'>One</a><li><a href='#p2'>Two</a></ul><div id=p1>alpha</div><div id=p2>beta</div>",
        "<ul><li><a href='#p1'>One</a><li><a href='#p2'>Two</a></ul><div id=p1>alpha</div><div id=p2 hidden>beta</div>",
        "<div><input type=radio id=a checked><label for=a>One</label><input type=radio id=b><label for=b>Two</label>"
        "</div><div><p>alpha</p><p>beta</p></div>",
        "<div><input type=radio id=a checked><label for=a>One</label><input type=radio id=b><label for=b>Two</label>"
        "<div>alpha</div><div>beta</div></div>",
        "<div><input type=radio id=a checked><label for=a>One</label><input type=radio id=b><label for=b>Two</label>"
        "<div><div>alpha</div><div>beta</div></div></div>",
        "<button>One</button><div hidden>alpha</div><button>Two</button><div hidden>beta</div>",
        "<style>.p{max-height:0;overflow:hidden}</style>"
        "<button>One</button><div class=p>alpha</div><button>Two</button><div class=p>beta</div>",
        "<div class=expand-control><span>One</span></div><div style='display:none'>alpha</div>"
        "<div class=expand-control><span>Two</span></div><div style='display:none'>beta</div>",
        "<style>input{opacity:0;position:absolute}.c>div{display:none}.t>input:nth-child(1):checked~.c>:nth-child(1)"
        "{display:block}.t>input:nth-child(2):checked~.c>:nth-child(2){display:block}</style>"
        "<div class=t><input type=radio id=r1 checked><input type=radio id=r2><div><label for=r1>One</label>"
        "<label for=r2>Two</label></div><div class=c><div>alpha</div><div>beta</div></div></div>",
        "<details><summary>One</summary>alpha</details><details><summary>Two</summary>beta</details>",
    ],
)
def test_a_panel_stands_below_its_label(tabs: str) -> None:
    assert markdown(f"<main>{tabs}</main>") == ONE_AND_TWO


def test_panels_in_panels_stand_below_their_own_labels() -> None:
    inner = "<p>alpha<div role=tablist><b role=tab>In</b></div><div role=tabpanel hidden>beta</div>"
    html = (
        "<div role=tablist><b role=tab>Out</b><b role=tab>Last</b></div>"
        f"<div role=tabpanel>{inner}</div><div role=tabpanel hidden>gamma</div>"
    )
    assert markdown(html) == "**Out**\n\nalpha\n\n**In**\n\nbeta\n\n**Last**\n\ngamma"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h3><button aria-expanded=false>Q?</button></h3><div hidden>A</div>", "### Q?\n\nA"),
        (
            "<h3><button aria-expanded=false aria-controls=p>Q?</button></h3><p>x<div id=p hidden>A</div>",
            "### Q?\n\nx\n\nA",
        ),
        (
            "<h3><button aria-expanded=false aria-controls=p>Q?</button></h3><div style='height:0;visibility:hidden'>"
            "<div><div id=p role=region>A</div></div></div>",
            "### Q?\n\nA",
        ),
        ("<dl><dt><button aria-expanded=false aria-controls=p>Q?</button><dd><p id=p hidden>A</dl>", "**Q?**\n\nA"),
        (
            "<p>Some<span id=more style='display:none'> more</span></p><button onclick=show()>Read more</button>",
            "Some more",
        ),
        ("<p>Some</p><a href='#' onclick=show()>Read more</a><div hidden>A</div>", "Some\n\n**Read more**\n\nA"),
        ("<p>Some</p><div hidden>A</div><button onclick=show()>More</button>", "Some\n\n**More**\n\nA"),
    ],
)
def test_a_question_or_a_link_to_more_is_the_label_of_what_it_opens(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_the_contents_of_a_page_are_no_tabs() -> None:
    html = "<ul><li><a href='#a'>A</a><li><a href='#b'>B</a></ul><div id=a><h2>A</h2>x</div><div id=b><h2>B</h2>y</div>"
    assert markdown(html) == "- [A](#a)\n- [B](#b)\n\n## A\n\nx\n\n## B\n\ny"


@pytest.mark.parametrize(
    "tool",
    [
        "<button aria-controls=n aria-expanded=false>TOOL</button><nav id=n><a href=x>Home</a></nav>",
        "<div><button data-clipboard-target='#c'>TOOL</button><pre id=c>code</pre></div>",
        "<button>TOOL</button>",
        "<form><button type=button>TOOL</button><p hidden>TOOL</p></form>",
        "<button type=submit>TOOL</button><p hidden>TOOL</p>",
        "<p hidden>TOOL</p><button>TOOL</button>",
        "<p>x</p><div hidden>TOOL</div><p>y</p>",
    ],
)
def test_a_tool_of_the_page_is_no_label_and_opens_nothing(tool: str) -> None:
    assert "TOOL" not in markdown(f"<main><p>Words</p>{tool}</main>")


def test_what_expands_something_else_is_no_label_of_a_panel_beside_its_box() -> None:
    menu = "<div><a href='#' aria-expanded=false>Menu</a> of the page</div>"
    assert markdown(f"<div hidden>GONE</div>{menu}<svg style='display:none'></svg>") == "[Menu](#) of the page"


def test_many_tabs_are_read_in_proportion_to_their_number() -> None:
    def page(count: int) -> str:
        tabs = "".join(f"<b role=tab aria-controls=p{n}>T{n}</b>" for n in range(count))
        panels = "".join(f"<div id=p{n} role=tabpanel hidden>text</div>" for n in range(count))
        return f"<div role=tablist>{tabs}</div>{panels}"

    assert grows_in_proportion(lambda count: convert(page(count)), 300)
