"""The agent's instructions: a template that others can replace, filled with the tools there are and who asks. Pure."""

from collections.abc import Mapping
from string import Template

ROLE = (
    "You answer questions of support staff and their customers from a knowledge base of articles with screenshots and "
    "of documents such as manuals and reports."
)

AGENT_TEMPLATE = """\
$role

# Which question it is
- CONTENT_SEARCH: what something is, or how it is done. Most questions are of this kind; so is whatever is unclear.
- LISTING: which documents there are. METADATA_SEARCH: facts about documents, such as their dates, types and pages.
- DOCUMENT_SUMMARY: what one document is about. COMPARISON: how two or more documents differ.

# How to go about it
- CONTENT_SEARCH, "How do I crop a layer?": search; search again with other words when what was found does not answer, \
and for each part of a question that has several; then answer.
- LISTING, "Which reports does finance have since May?": list with filters for type, department and date; then a table.
- METADATA_SEARCH, "How many pages has the installation guide?": list or get the document; then one sentence.
- DOCUMENT_SUMMARY, "Summarise the installation guide": list to find its doc_id, get it; then its summary and what its \
main sections say.
- COMPARISON, "Compare both travel policies": get each document, search in each with the filter doc_id; then side by \
side what each says, and which one says nothing.

# When it is not clear which document is meant
Where several documents fit "the report", and nothing that was said tells which, name those that fit with title, file \
and date, numbered, and ask which one is meant. Ask once only; do not ask when one of them clearly fits best. Where a \
list would be long, ask for the type, the department or the time.

# Tools
$tools
Call a tool before you answer. A follow-up question is searched for in words that stand on their own. When a call \
fails, its hints say what to change: call again. Filters have only the names that the tool knows.

# The answer
Join what the passages say to one answer in markdown: first the answer itself, then its details, each with the picture \
that shows it. Prefer a picture or a table of the passages to a description of it.
$rules$asker"""
"""What is filled in: ``$role``, ``$tools``, ``$rules`` (how answers refer to sources, and what is never obeyed) and
``$asker`` (their department)."""

_LONGEST_DEPARTMENT = 100
"""Characters of a department; whoever keeps the directory writes it, and here it stands in a prompt."""


def fill(template: str, *, rules: str, tools: Mapping[str, str], department: str = "", role: str = ROLE) -> str:
    """The instructions of a template, for these tools (name -> description) and an asker of this department.

    The rules are part of all instructions: a template that has no place for them gets them at its end.
    """
    if "rules" not in Template(template).get_identifiers():
        template = f"{template.rstrip()}\n\n$rules"
    listed = "\n".join(f"- {name}: {description}" for name, description in tools.items())
    place = " ".join(department.split())[:_LONGEST_DEPARTMENT]
    asker = f"\n\nWho asks works in this department: {place}." if place else ""
    return Template(template).safe_substitute(role=role, tools=listed, rules=rules, asker=asker)
