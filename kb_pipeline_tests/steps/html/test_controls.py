import pytest

from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol><li>Click <button>Save</button>.</ol>", "1. Click Save."),
        ("<p><b>Press <button><span>Save all</span></button></b>", "**Press Save all**"),
        ("<div>Click <button>Save</button> twice.</div>", "Click Save twice."),
        ("<p>Press <input type=submit value='Send it'> now.", "Press Send it now."),
        ("<p>Set it to <input readonly value=8080>.", "Set it to 8080."),
        ("<p>Wait <input type=number value=30> seconds.", "Wait 30 seconds."),
        ("<p>Type <input placeholder='Your name'> here.", "Type Your name here."),
        ("<p>Paste <textarea>the key</textarea> there.", "Paste the key there."),
        ("<p>Choose <select><option>Low<option selected>High</select>.", "Choose High."),
        ("<p>Choose <select><option>Low<option>High</select>.", "Choose Low."),
        ("<p>Of <select multiple><option>Red<option>Green</select> one.", "Of Red, Green one."),
        ("<p><label for=p>Port</label> <input id=p value=8080>", "Port 8080"),
        ("<p>Press <button title=Save><i class=icon></i></button> now.", "Press Save now."),
        ("<p>Press <button aria-label=Save><svg></svg></button> now.", "Press Save now."),
        ("<p>Sum <output>42</output>.", "Sum 42."),
        ("<h2>The <button>Save</button> button</h2>", "## The Save button"),
        ("<form action=/s><h2>Page</h2><p>Click <button>Save</button>.</form>", "## Page\n\nClick Save."),
        ("<div><span>Click</span> <button>Save</button> <span>to finish.</span></div>", "Click Save to finish."),
        ("<p>Press <input type=submit> now.", "Press Submit now."),
        ("<p>Press <input type=submit value=''> now.", "Press now."),
        ("<p>Choose <select><option label=High value=h></select>.", "Choose High."),
        ("<p>Used: <meter value=0.6>60 %</meter> of it.", "Used: 60 % of it."),
        ("<p>Done: <progress value=7 max=10></progress>.", "Done: 70%."),
        ("<p>Done: <progress></progress>.", "Done: ."),
        ("<div><span>Port</span><input value=8080 readonly></div>", "Port 8080"),
        ("<p>Press <button>Yes</button><button>No</button> now.", "Press Yes No now."),
    ],
)
def test_a_control_in_a_sentence_is_what_it_shows(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_a_control_may_fill_a_cell_alone() -> None:
    html = "<table><tr><th>Button<th>Does<tr><td><button>Save</button><td>Writes the file</table>"
    assert markdown(html).endswith("| Save | Writes the file |")


@pytest.mark.parametrize(
    "tool",
    [
        "<form action=/s><label for=q>Query</label><input id=q placeholder=TOOL><button>TOOL</button></form>",
        "<div><pre>code</pre><button>TOOL</button></div>",
        "<div><span>bash</span><button>TOOL</button></div>",
        "<pre>code <button>TOOL</button></pre>",
        "<h2>Export <button>TOOL</button></h2>",
        "<p>a <input type=hidden value=TOOL> b <input type=password value=TOOL> c <input type=file value=TOOL></p>",
        "<ul><li><button>TOOL</button></li></ul>",
        "<p>Some <button hidden>TOOL</button> words</p>",
        "<button>TOOL</button>",
        "<div><span>Version</span><select><option>TOOL</select></div>",
        "<div><span>Find</span><input type=search value=TOOL></div>",
        "<progress value=5 max=10>TOOL</progress>",
    ],
)
def test_a_tool_of_the_page_is_no_text(tool: str) -> None:
    assert "TOOL" not in markdown(f"<p>Words</p>{tool}")


TICKED = "- ☑ Backup\n- ☐ Alarm"


@pytest.mark.parametrize(
    "items",
    [
        "<li><input type=checkbox checked disabled> Backup<li><input type=checkbox disabled> Alarm",
        "<li><label><input type=checkbox checked>Backup</label><li><label><input type=checkbox>Alarm</label>",
        "<li><input type=checkbox id=a checked><label for=a>Backup</label>"
        "<li><input type=checkbox id=b><label for=b>Alarm</label>",
        "<li><p><input type=checkbox checked>Backup</p><li><p><input type=checkbox>Alarm</p>",
        "<li role=checkbox aria-checked=true>Backup<li role=checkbox aria-checked=false>Alarm",
        "<li><div class='checkbox checkbox-on'></div> <b></b>Backup<li><div class='checkbox checkbox-off'></div> Alarm",
        "<li data-list=checked>Backup<li data-list=unchecked>Alarm",
        "<li><label><input type=checkbox checked><span class=indicator></span></label> Backup"
        "<li><label><input type=checkbox><span class=indicator></span></label> Alarm",
        "<li><div><input type=checkbox checked> <span>Backup</span></div>"
        "<li><div><input type=checkbox> <span>Alarm</span></div>",
        "<li data-checked=true><p>Backup</p><li data-checked=false><p>Alarm</p>",
    ],
)
def test_ticked_items_are_told_from_others(items: str) -> None:
    assert markdown(f"<ul>{items}</ul>").replace("\n\n", "\n") == TICKED


def test_tasks_of_confluence_are_ticked_by_their_class() -> None:
    assert markdown("<ul class=inline-task-list><li class=checked>Backup<li>Alarm</ul>") == TICKED


def test_items_of_asciidoctor_are_ticked_by_their_icon() -> None:
    checked, unchecked = "<i class='fa fa-check-square-o'></i>", "<i class='fa fa-square-o'></i>"
    html = f"<ul class=checklist><li><p>{checked} Backup</p><li><p>{unchecked} Alarm</p></ul>"
    assert markdown(html) == TICKED


@pytest.mark.parametrize("style", ["opacity:0", "position:absolute;left:-9999px", "clip-path:inset(100%)"])
def test_a_box_that_a_page_draws_in_its_own_way_is_ticked_or_not(style: str) -> None:
    boxes = "<div><input type=checkbox id={0} {1}><label for={0}>{2}</label></div>"
    html = boxes.format("a", "checked", "Backup") + boxes.format("b", "", "Alarm")
    assert markdown(f"<style>input{{{style}}}</style>{html}") == "☑ Backup\n\n☐ Alarm"
    radio = "<label><input type=radio checked> Daily</label>"
    assert markdown(f"<style>input{{{style}}}</style><p>{radio}</p>") == "◉ Daily"


def test_radio_buttons_that_choose_a_tab_are_no_text() -> None:
    tabs = "<input type=radio id=a checked><label for=a>Pip</label><div>One</div>"
    strip = "<div><input type=radio id=a checked><input type=radio id=b><p><label for=a>A</label></p></div>"
    for html in (tabs, strip):
        assert "◉" not in markdown(f"<style>input{{opacity:0;position:absolute}}</style>{html}")


def test_ticks_in_cells_and_radio_buttons() -> None:
    box = "<input type=checkbox disabled"
    html = f"<table><tr><th>Right<th>Owner<th>Guest<tr><td>Delete<td>{box} checked><td>{box}></table>"
    assert markdown(html).endswith("| Delete | ☑ | ☐ |")
    assert markdown("<p><input type=radio checked> Daily <input type=radio> Weekly") == "◉ Daily ○ Weekly"


@pytest.mark.parametrize(
    "switch",
    [
        "<input type=checkbox id=menu><label for=menu><i class=bars></i></label>",
        "<input type=checkbox class=toggle>",
        "<div><input type=checkbox id=s><label for=s></label><div>Words</div></div>",
        "<p>Some <input type=checkbox style='display:none'> words</p>",
    ],
)
def test_a_switch_of_the_pages_looks_is_no_tick(switch: str) -> None:
    assert "☐" not in markdown(f"{switch}<p>Words</p>")


def test_many_controls_are_read_in_proportion_to_their_number() -> None:
    assert grows_in_proportion(lambda count: convert("<p>a <button>b</button> " * count), 800)
    assert grows_in_proportion(lambda count: convert("<p>a" + " <button>b</button> c" * count), 800)
