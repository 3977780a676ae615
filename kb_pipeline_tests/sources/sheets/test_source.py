"""Spreadsheets: what readers see of their sheets, and where it stands."""

import base64
import datetime
import io
import re
import zipfile
import zlib
from typing import Any

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import ConvertedArticle
from kb_pipeline.sources import DocumentLimits, SourceDocument, SourceTools
from kb_pipeline.sources.sheets.source import SpreadsheetSource
from kb_pipeline.steps.checks import Control, check_conversion
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.pages import split_marks
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.decks import with_parts
from kb_pipeline_tests.sources.workbooks import fill, open_document, table, workbook

SOURCE = SpreadsheetSource()
HEADER, ROWS = ("Part", "Price"), (("Seal", 12.5), ("Valve", 30))


def read(data: bytes, name: str = "prices.xlsx") -> SourceDocument:
    return SOURCE.read("prices", name, data)


def converted(document: SourceDocument, name: str = "prices.xlsx") -> ConvertedArticle:
    images = {file: probe_image(file, data) for file, data in document.images.items()}
    article = convert_document("prices", name, document.html, images, [page.number for page in document.pages])
    return article.model_copy(update={"pages": document.pages})


def text(data: bytes, name: str = "prices.xlsx") -> str:
    return split_marks(converted(read(data, name), name).markdown).text.strip()


def lines(data: bytes, name: str = "prices.xlsx") -> list[str]:
    return [line for line in text(data, name).splitlines() if line and not line.startswith("| ---")]


def refused(data: bytes, name: str = "prices.xlsx") -> str:
    with pytest.raises(UnreadableArticleError) as error:
        read(data, name)
    return str(error.value)


def test_a_sheet_is_a_section_with_its_table() -> None:
    assert lines(table(HEADER, *ROWS)) == ["# Prices", "| Part | Price |", "| Seal | 12.5 |", "| Valve | 30 |"]


def test_values_are_as_they_are_shown() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Values")
        shown = [
            (0.25, "0%"), (0.125, "0.0%"), (1234.5, '#,##0.00 "EUR"'), (3, "[$€-407] 0.00"), (7, '0 "kg"'),
            (-2, '0.0"°C";[Red]-0.0"°C"'), (0.1 + 0.2, "General"), (5, "0.00"), (2.5, "0.##"), (1234567, "0,"),
        ]  # fmt: skip
        sheet.write_row(0, 0, ["Kind", "Value"])
        for row, (value, code) in enumerate(shown, 1):
            sheet.write(row, 0, f"kind {row}")
            sheet.write_number(row, 1, value, book.add_format({"num_format": code}))
        sheet.write(11, 0, "day")
        sheet.write_datetime(11, 1, datetime.datetime(2026, 5, 1), book.add_format({"num_format": "d.m.yy"}))
        sheet.write(12, 0, "moment")
        sheet.write_datetime(
            12, 1, datetime.datetime(2026, 5, 1, 13, 30), book.add_format({"num_format": "d.m.yy h:mm"})
        )
        sheet.write(13, 0, "flag")
        sheet.write_boolean(13, 1, True)
        sheet.write(14, 0, "sum")
        sheet.write_formula(14, 1, "=1+1", None, 2)

    assert [line.split("|")[2].strip() for line in lines(workbook(build))[2:]] == [
        *("25%", "12.5%", "1234.50 EUR", "€ 3.00", "7 kg", "-2.0°C", "0.3", "5.00", "2.5", "1234567"),
        *("2026-05-01", "2026-05-01 13:30:00", "TRUE", "2"),
    ]


def test_what_readers_do_not_see_is_left_out_and_said() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Prices")
        fill(sheet, ("Part", "Price", "Margin"), ("Seal", 1, "secret"), ("Secret part", 2, 3), ("Valve", 4, 5))
        sheet.set_column(2, 2, None, None, {"hidden": True})
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.write_number(3, 1, 777, book.add_format({"num_format": ";;;"}))
        book.add_worksheet("Notes").hide()
        book.add_worksheet("Deep").very_hidden()

    document = read(workbook(build))
    assert "ecret" not in document.html
    assert "777" not in document.html
    assert document.warnings == ("left out: 2 hidden sheets, 1 hidden row, 1 hidden column, 1 hidden cell",)
    assert lines(workbook(build))[-1] == "| Valve |  |"


def test_a_merged_cell_is_said_in_each_of_its_rows_and_once_in_its_columns() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Fees")
        sheet.merge_range("A1:C1", "Fees 2026")
        fill(sheet, (), (), ("Service", "Hours", "Fee"), (None, "2", 5), (None, "4", 9))
        sheet.merge_range("A4:A5", "Repair")

    assert lines(workbook(build)) == [
        *("# Fees", "Fees 2026", "| Service | Hours | Fee |", "| Repair | 2 | 5 |", "| Repair | 4 | 9 |"),
    ]


def test_the_groups_of_a_header_are_said_of_each_of_its_columns() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Sales")
        sheet.merge_range("B1:C1", "Europe")
        sheet.merge_range("D1:E1", "Asia")
        fill(sheet, (), ("Part", "Q1", "Q2", "Q1", "Q2"), ("Seal", 1, 2, 3, 4))

    assert lines(workbook(build))[1] == "| Part | Europe Q1 | Europe Q2 | Asia Q1 | Asia Q2 |"


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([("Region", 2024, 2025), ("North", 1.5, 2.5)], "| Region | 2024 | 2025 |"),
        ([("Item", datetime.date(2026, 1, 1)), ("Rent", 900)], "| Item | 2026-01-01 |"),
        ([("Seal", 12.5), ("Valve", 30)], "| A | B |"),
        ([(None, None, "Part", "Price"), (None, None, "Seal", 1)], "| Part | Price |"),
    ],
)
def test_the_header_is_the_first_row_if_that_can_name_columns(rows: list[tuple[object, ...]], header: str) -> None:
    assert lines(table(*rows))[1] == header


def test_notes_above_a_table_are_text() -> None:
    rows = lines(table(("Price list",), ("valid", "until May"), ("Part", "Size", "Price"), ("Seal", "S", 1)))
    assert rows[1:4] == ["Price list", "valid – until May", "| Part | Size | Price |"]


def test_a_table_goes_on_below_a_blank_row_if_its_rows_look_like_those_before() -> None:
    assert lines(table(HEADER, *ROWS, (), ("Gasket", 3), ("Ring", 4)))[3:] == [
        *("| Valve | 30 |", "| Part | Price |", "| Gasket | 3 |", "| Ring | 4 |"),
    ]


def test_a_column_over_numbers_alone_has_its_name() -> None:
    assert lines(table((None, "Total"), ("North", 5), ("South", 7)))[1:] == [
        *("|  | Total |", "| North | 5 |", "| South | 7 |"),
    ]


def test_another_table_below_has_its_own_header() -> None:
    assert "| City | Phone |" in lines(table(HEADER, *ROWS, (), ("City", "Phone"), ("Graz", 316)))


def test_what_stands_in_one_column_is_text() -> None:
    assert lines(table(("How to order",), (), ("Call us.",), ("Or write.",))) == [
        *("# Prices", "How to order", "Call us.", "Or write."),
    ]


def test_rows_of_a_very_wide_table_name_the_column_of_each_value() -> None:
    header = [f"A long name of column {number}" for number in range(30)]
    [heading, item] = lines(table(header, [None, 5, *range(28)]))
    assert heading == "# Prices"
    assert item.startswith("- A long name of column 1: 5; A long name of column 2: 0; ")


def test_pages_have_500_rows_and_say_which() -> None:
    document = read(table(HEADER, *((f"Part {number}", number) for number in range(1200))))
    assert [page.label for page in document.pages] == [
        *("Prices, rows 1-500", "Prices, rows 501-1000", "Prices, rows 1001-1201"),
    ]
    article = converted(document)
    assert article.markdown.count("| Part | Price |") == 3
    assert re.findall("^#+ .*$", article.markdown, re.M) == [
        *("# Prices, rows 1-500", "# Prices, rows 501-1000", "# Prices, rows 1001-1201"),
    ]
    assert "Part 998" in split_marks(article.markdown).of_page(2)


def test_rows_have_the_numbers_of_the_file() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("A name that is much longer")
        sheet.write_row(699, 3, HEADER)
        sheet.write_row(700, 3, ROWS[0])

    [page] = read(workbook(build)).pages
    assert page.label == "A name that is much l…, rows 700-701"


def test_no_word_is_lost() -> None:
    def build(book: Any) -> None:
        fill(book.add_worksheet("One"), ("Notes",), ("a", "b"), HEADER, *ROWS, (), ("x", None, "y"), ("z",))
        fill(book.add_worksheet("Two"), *([f"c{row}x{column}" for column in range(60)] for row in range(20)))

    document = read(workbook(build))
    checks = check_conversion(converted(document), Control(document.control))
    assert [check.name for check in checks if not check.passed] == []


def test_links_and_pictures_stay_where_they_are() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Parts")
        fill(sheet, HEADER, *ROWS)
        sheet.write_url(1, 0, "https://shop.example/seal?a=1&b=2", string="Seal")
        sheet.insert_image("D2", "a.png", {"image_data": io.BytesIO(screenshot("A")), "description": "The seal"})

    document = read(workbook(build))
    article = converted(document)
    assert [link.target for link in article.links] == ["https://shop.example/seal?a=1&b=2"]
    assert [(image.file, image.alt) for image in article.images] == [("prices.xlsx/image1.png", "The seal")]


def test_pictures_below_the_last_row_and_without_any_are_kept() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet("Parts")
        fill(sheet, HEADER, *((f"Part {number}", number) for number in range(600)))
        pictures = book.add_worksheet("Pictures")
        for place, (each, row) in enumerate(((sheet, 480), (sheet, 505), (sheet, 2000), (pictures, 3))):
            each.insert_image(row, 4, f"{place}.png", {"image_data": io.BytesIO(screenshot(str(place)))})

    document = read(workbook(build))
    assert [page.label for page in document.pages] == ["Parts, rows 1-500", "Parts, rows 501-601", "Pictures"]
    markdown = converted(document).markdown
    assert [split_marks(markdown).of_page(number).count("[[IMG:") for number in (1, 2, 3)] == [1, 2, 1]
    assert split_marks(markdown).of_page(3).startswith("# Pictures")


def test_the_title_is_that_of_the_properties_or_the_name_of_the_file() -> None:
    def build(book: Any) -> None:
        book.set_properties({"title": "Spare parts", "author": "Ann Lee"})
        fill(book.add_worksheet(), *ROWS)

    document = read(workbook(build))
    assert document.facts
    assert (document.title, document.facts.author) == ("Spare parts", "Ann Lee")
    assert read(table(HEADER), "Price list.xlsx").title == "Price list"


def test_formulas_without_a_value_are_said() -> None:
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
        '<c r="A1"><v>1</v></c><c r="B1"><f>A1*2</f></c></row></sheetData></worksheet>'
    )
    document = read(workbook(lambda book: book.add_worksheet(), {"xl/worksheets/sheet1.xml": sheet.encode()}))
    assert document.warnings[0].startswith("1 formula without a value in the file")


def test_macros_are_not_looked_at() -> None:
    macros = {"xl/vbaProject.bin": b"macros"}
    data = workbook(lambda book: fill(book.add_worksheet("Prices"), HEADER, *ROWS), macros)
    assert lines(data, "prices.xlsm")[-1] == "| Valve | 30 |"
    assert "contains macros" in refused(data, "prices.xlsx")


def test_text_that_begins_a_formula_or_html_is_text() -> None:
    rows = lines(b"Name,Note\n=cmd|' /C calc'!A0,<b onclick=x>bold</b>\n@SUM(1),[a](b)\n", "a.csv")
    assert rows[1] == r"| =cmd\|' /C calc'!A0 | \<b onclick=x>bold\</b> |"


OLD = zlib.decompress(base64.b85decode(
    b'c-rk)O=uHA6#i!OU)ub%sn7}~6s%fPM7(%uw@S6AlxPnAAZVKIA+)5j%|$O(Yfd5vo)j;Idhk;9;twk5&4bXQpdbi|9z6*P9@?yLUUo~`rqF'
    b'-}Qs!Ic&6_v#cHYi=^JaIKmm<aaC*37%zz|$0TLE~hWP(b-X@o)jmL*xI_EWJGnhF6wInwLF%eMDE=|k!75;Qz^za<KMqjDaXFgBetVhzMGw'
    b'jnK~4THi>v8Ulal_0v<u6CvwrX5Tl@z_^Phgouq=^%|QigQ@f$NG=haePMW<-Q<MfoH7qg(Zj3iFY!Nuih4wu^t>Xv+1cO>*#T}VgcmRQ6p!'
    b'VvK_($v;b!b1Bt}I$Vd@Ua`ys$TQT65v#;O8l)SNW0h0e&FZXRB_mdMh%I|1yU>4RzA%nR<K^=EjwsO+UW{epr`Q(wY;YG^Gm_~jD2Psa#g@'
    b'z{6W}a9cO?4`p%NQh18R;oX2Q#eFB6C0IitxHz(Z)NdmFNUQ%tv@1g~`;Fhd)0g#*_L5mdx_`P&q~RNRwgVn$#fWAoplYT~zv+Kfv@l-*q?h'
    b'-AtooIMsd0PMbL~$761AZy(KbnDJ5HTgC4qzVPGZ^Pa+YeLwMwqopg+#n1XYdg)Y~AbokwAui(L-d%|ox>E}~-+X1-wJG=bwXkiwWgnFxtjg'
    b'U+h%l|R<m!mEmS(S&)D|_g1#8Rocun&Q*1p*xb6<H`Bh4YL9Zz}DhO18LMtDlB(Ps6OsOc&Bth}nIwW<mV3JMAe3JN;`!hY{|RXzpylR&;L`'
    b't1KYt5nMBH_490DNNIqr%%e`$Wd+La$WJW3m)OzOKele`Clk;nr1gKiE*}LvhMh$w|!ClJlj?b|GO<z@BHO@?EKI3{{>sP1V{'
))  # fmt: skip
"""A workbook of Excel 97, which no library that we have writes: a sheet of two rows, and a hidden one."""


def test_an_old_workbook_is_read_and_says_what_it_does_not_tell() -> None:
    assert lines(OLD, "old.xls") == ["# Prices", "| Part | Price | Since |", "| Seal | 12.5 | 2026-05-01 |"]
    hidden, old = read(OLD, "old.xls").warnings
    assert hidden == "left out: 1 hidden sheet"
    assert "are not known" in old


CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'


def test_an_opendocument_spreadsheet_is_read_alike() -> None:
    def row(*cells: str, of: str = "") -> str:
        return f"<table:table-row {of}>{''.join(map(CELL.format, cells))}</table:table-row>"

    hidden = 'table:visibility="collapse"'
    share = (
        '<table:table-cell office:value-type="percentage" office:value="0.25"><text:p>25 %</text:p></table:table-cell>'
    )
    data = open_document(
        '<table:table table:name="Parts"><table:table-column/><table:table-column '
        f"{hidden}/>"
        f"{row('Part', 'Margin', 'Share')}{row('Secret', 'a', 'b', of=hidden)}"
        f"<table:table-row>{CELL.format('Seal')}{CELL.format('secret')}{share}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>',
        "<dc:title>Spare parts</dc:title>",
    )
    assert lines(data, "parts.ods") == ["# Parts", "| Part | Share |", "| Seal | 25 % |"]
    document = read(data, "parts.ods")
    assert (document.title, document.warnings) == ("Spare parts", ("left out: 1 hidden row, 1 hidden column",))


def test_an_encrypted_opendocument_spreadsheet_is_refused_as_such() -> None:
    manifest = '<manifest:manifest xmlns:manifest="x"><manifest:encryption-data/></manifest:manifest>'
    data = with_parts(open_document(""), {"META-INF/manifest.xml": manifest.encode()})
    assert "is encrypted; save it without a password" in refused(data, "a.ods")


@pytest.mark.parametrize(
    "value",
    ["&nbsp; &amp;", "[[IMG:a.png]]", r"a\b | `c` *d*", "<script>alert(1)</script>", "# no heading", "1. a"],
)
def test_signs_of_markup_in_a_cell_are_text(value: str) -> None:
    document = read(table(("Note", "Number"), (value, 1), ("b", 2)))
    checks = check_conversion(converted(document), Control(document.control))
    assert [check.name for check in checks if not check.passed] == []


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("City;Price\nKöln;1,5\nGraz;2,5\n".encode("cp1252"), "a.csv"),
        ("City,Price\r\nKöln,\"1,5\"\r\nGraz,\"2,5\"\r\n".encode(), "a.csv"),
        ("\ufeffCity,Price\nKöln,\"1,5\"\nGraz,\"2,5\"\n".encode(), "A.CSV"),
        ("City\tPrice\nKöln\t1,5\nGraz\t2,5\n".encode("utf-16"), "a.tsv"),
        ("sep=|\nCity|Price\nKöln|1,5\nGraz|2,5\n".encode(), "a.csv"),
        ("City|Price\nKöln|1,5\nGraz|2,5\n".encode(), "a.csv"),
    ],
)  # fmt: skip
def test_a_table_of_text_is_read_in_its_encoding_and_dialect(data: bytes, name: str) -> None:
    assert lines(data, name) == ["| City | Price |", "| Köln | 1,5 |", "| Graz | 2,5 |"]


def test_the_page_of_a_table_of_text_says_its_rows() -> None:
    [page] = read(b"a,b\n1,2\n", "a.csv").pages
    assert page.label == "rows 1-2"


@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.xlsx", "is encrypted, or an old Office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.xls", "is damaged"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "a.xls", "is a page of HTML or XML under another name"),
        (table(HEADER), "a.xls", "is a ZIP archive or an Office document under another name; save it as .xlsx"),
        (table(HEADER), "a.csv", "is a ZIP archive or an Office document under another name"),
        (table(HEADER), "a.ods", "but a spreadsheet; rename it"),
        (b"a,b\n" + b"\0" * 100, "a.csv", "is binary"),
    ],
)
def test_what_is_no_such_file_is_refused_with_the_reason(data: bytes, name: str, problem: str) -> None:
    assert problem in refused(data, name)


def test_a_file_without_a_value_is_empty() -> None:
    def build(book: Any) -> None:
        book.add_worksheet()
        book.add_worksheet().hide()

    with pytest.raises(EmptyArticleError, match=r"prices.xlsx holds no cell with a value; left out: 1 hidden sheet"):
        read(workbook(build))


def test_more_pages_than_allowed_are_refused() -> None:
    source = SOURCE.equipped(SourceTools(DocumentLimits(most_pages=1)))
    with pytest.raises(UnreadableArticleError, match="more than 1 pages of 500 rows; split it, or raise"):
        source.read("prices", "a.csv", b"a,b\n" * 501)


@pytest.mark.slow("allocates until it is killed")
def test_a_cell_at_the_end_of_the_sheet_costs_only_its_article() -> None:
    def build(book: Any) -> None:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, "z")

    assert "delete what stands far from the rest of a sheet" in refused(workbook(build))
    assert lines(table(HEADER, *ROWS))[-1] == "| Valve | 30 |"


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("xl/workbook.xml", b" " * 60_000_000)
    assert "unpacks to 60,000,000 bytes" in refused(packed.getvalue())
