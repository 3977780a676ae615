"""A library of made documents with known facts, published as rows of an index, without files."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, DocumentEntry, DocumentSummary, PageBreak, Quoted
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.settings import Settings


@dataclass(frozen=True)
class Made:
    """A document. Each of its sections is a heading and a text, on a page of its own."""

    article_id: str
    title: str
    document_type: str = ""
    department: str = ""
    author: str = ""
    upload_date: str = "2026-05-04"
    page_count: int = 0
    language: str = "en"
    sections: tuple[tuple[str, str], ...] = ()
    readers: tuple[str, ...] = ()
    rows: list[Chunk] = field(default_factory=list, compare=False)

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        return self.sections or (("Purpose", f"This is what {self.title} says first. It holds for everybody."),)


def rows_of(made: Made) -> list[Chunk]:
    """The sections of a document, and its row in the list of documents."""
    paged = made.page_count > 0
    shared = {
        "article_id": made.article_id,
        "title": made.title,
        "filename": made.article_id,
        "access_control_list": made.readers,
        "converter": "made-1",
        "run_id": "made",
    }
    texts = made.texts
    chunks = [
        Chunk(
            id=_id(made, heading),
            chunk_index=number,
            section_header=heading,
            heading_path=(made.title, heading),
            content=f"## {heading}\n\n{text}",
            content_hash=_hash(text),
            page_breaks=(PageBreak(offset=0, page=min(number + 1, made.page_count)),) if paged else (),
            **shared,
        )
        for number, (heading, text) in enumerate(texts)
    ]
    quoted = tuple(
        Quoted(text=sentence if sentence.endswith(".") else f"{sentence}.", page=number if paged else None)
        for number, (_, text) in enumerate(texts, 1)
        for sentence in text.split(". ")[:1]
    )
    entry = DocumentEntry(
        filename=made.article_id,
        document_type=made.document_type,
        department=made.department,
        author=made.author,
        language=made.language,
        upload_date=made.upload_date,
        page_count=made.page_count,
        summary=DocumentSummary(brief=quoted[:2], standard=(quoted,)),
        headings=tuple(
            Quoted(text=heading, page=number if paged else None) for number, (heading, _) in enumerate(texts, 1)
        ),
    )
    about = Chunk(
        id=_id(made, "*document*"),
        chunk_index=len(chunks),
        section_header=made.title,
        heading_path=(),
        content=f"{made.title}\n\n{made.article_id}\n\n{entry.summary.standard_text}",
        content_hash=_hash(made.title),
        block_type="document",
        document=entry,
        page_breaks=(PageBreak(offset=0, page=1),) if paged else (),
        **shared,
    )
    return [*chunks, about]


def publish_library(settings: Settings, library: Iterable[Made]) -> None:
    """Publish documents to the index of these settings, and let readers use it."""
    workspace = Workspace(settings)
    rows = {made.article_id: rows_of(made) for made in library}
    chunks = [chunk for each in rows.values() for chunk in each]
    passages = workspace.embedder.embed_passages([f"{chunk.title}\n{chunk.content}" for chunk in chunks])
    embedded = dict(zip((chunk.id for chunk in chunks), passages, strict=True))
    workspace.index.publish(
        {article_id: [IndexEntry(chunk, (embedded[chunk.id],)) for chunk in each] for article_id, each in rows.items()}
    )
    workspace.catalog.switch(workspace.generation, at="2026-11-23T00:00:00+00:00")


def _id(made: Made, name: str) -> str:
    return f"{made.article_id.replace('.', '-')}-{_hash(f'{made.article_id} {name}')[:32]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


AUTHORS = (
    *("Anna Schmidt", "Peter Novak", "Mira Okafor", "James Miller", "Sofia Rossi", "Tom Becker"),
    *("Laura Chen", "Omar Haddad", "Julia Weber", "David Clark"),
)
_PRODUCTS = ("X100", "X200", "X300", "Z10", "Z20")
_COMPANIES = (
    *(
        "Contoso",
        "Fabrikam",
        "Northwind",
        "Litware",
        "Adatum",
        "Tailspin",
        "Proseware",
        "Wingtip",
        "Woodgrove",
        "Lamna",
    ),
    *(
        "Relecloud",
        "Trey Research",
        "Alpine Ski House",
        "Bellows",
        "Coho",
        "Datum",
        "Fourth Coffee",
        "Margie",
        "Nod",
        "VanArsdel",
    ),
)
_GUIDES = (
    *("Onboarding", "VPN", "Printer", "Remote work", "Expense", "Password", "Meeting room", "Travel booking", "Backup"),
    *(
        "Phone system",
        "Data export",
        "Video call",
        "Badge",
        "Parking",
        "Canteen",
        "First aid",
        "Fire safety",
        "Recycling",
    ),
)
_POLICIES = ("Travel", "Security", "Data protection", "Gift", "Procurement", "Environmental", "Parental leave")
_DECKS = (
    *("Brand overview", "Sales kickoff", "Roadmap overview", "Investor update", "Customer stories", "Partner program"),
    *("Market trends", "Hiring plan", "Product launch", "Trade fair recap", "Pricing model", "Support overview"),
)
_SPECIFICATIONS = ("interface", "power supply", "firmware", "packaging")


def library() -> Sequence[Made]:
    """Two hundred documents of nine types and eight departments, from 2021 to 2026, with facts by their place."""
    found: list[Made] = []

    def add(title: str, kind: str, department: str, day: str, ending: str = "pdf", language: str = "en") -> None:
        number = len(found)
        found.append(
            Made(
                article_id=f"{title.lower().replace(' ', '-')}.{ending}",
                title=title,
                document_type=kind,
                department=department,
                author=AUTHORS[number * 7 % len(AUTHORS)],
                upload_date=day,
                page_count=0 if ending == "md" else 2 + number * 37 % 119,
                language=language,
                sections=(
                    (
                        "Purpose",
                        f"{title} says what {department or 'the company'} needs to know. It is read every year.",
                    ),
                    (
                        "Laptops",
                        f"{title} allows {number % 5 + 1} laptops for each person. They are returned.",
                    ),
                    ("Deadlines", f"{title} asks for an answer within {number % 9 + 2} days. Nobody may wait longer."),
                ),
            )
        )

    for department in ("Finance", "Sales", "Marketing", "Operations"):
        for year, quarters in ((2025, 4), (2026, 3)):
            for quarter in range(1, quarters + 1):
                months = {1: "04", 2: "07", 3: "10", 4: "01"}
                day = f"{year + (quarter == 4)}-{months[quarter]}-10"
                add(f"{department} quarterly report Q{quarter} {year}", "Report", department, day)
    for year in range(2021, 2026):
        add(f"Annual report {year}", "Report", "Finance", f"{year + 1}-02-15")
        add(f"Audit report {year}", "Report", "Legal", f"{year + 1}-03-20")
    for number, product in enumerate(_PRODUCTS):
        for kind in ("installation", "user", "service", "safety"):
            add(f"{product} {kind} manual", "Manual", "Engineering", f"202{number + 2}-06-{10 + number:02}")
    for number, guide in enumerate(_GUIDES):
        department = ("HR", "IT", "Operations")[number % 3]
        add(f"{guide} guide", "Guide", department, f"2024-{number % 12 + 1:02}-05", "docx")
    for number, policy in enumerate(_POLICIES):
        for year in (2023, 2026):
            add(f"{policy} policy {year}", "Policy", "HR" if number % 2 else "Legal", f"{year}-{number + 1:02}-18")
    for number, company in enumerate(_COMPANIES):
        add(f"Contract with {company}", "Contract", "Legal", f"202{number % 5 + 2}-0{number % 9 + 1}-28")
    for number, deck in enumerate(_DECKS):
        department = ("Marketing", "Sales")[number % 2]
        add(deck, "Presentation", department, f"202{number % 3 + 4}-{number % 10 + 1:02}-12", "pptx")
    for product in _PRODUCTS:
        for kind in _SPECIFICATIONS:
            add(f"{product} {kind} specification", "Specification", "Engineering", "2025-03-03")
    for number in range(1, 11):
        add(f"Service notes 2026-{number:02}", "Notes", "Support", f"2026-{number:02}-28", "md")
    for title, kind, department in (
        ("Reisekostenrichtlinie", "Richtlinie", "HR"),
        ("Sicherheitshandbuch", "Handbuch", "IT"),
        ("Betriebsvereinbarung Arbeitszeit", "Vereinbarung", "HR"),
        ("Mietvertrag Lager", "Vertrag", "Legal"),
        ("Brandschutzanleitung", "Anleitung", "Operations"),
    ):
        add(title, kind, department, "2026-08-08", language="de")
    while len(found) < 200:
        number = len(found)
        add(f"Works council minutes {number}", "Minutes", "HR", f"2025-{number % 12 + 1:02}-22", "docx")
    return found
