"""docs/azure.md says what is so."""

import re
import subprocess

import pytest

from app.settings import load_app_settings
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.deploy.files import OF_DEPLOYING, ROOT, SETTINGS
from kb_pipeline_tests.deploy.infra import grants

PAGES = [ROOT / "docs/azure.md", ROOT / "deploy/README.md"]
GUIDE = PAGES[0].read_text()
BLOCKS = re.findall(r"```bash\n(.*?)```", GUIDE, re.DOTALL)
WHO = {
    "`kb-pipeline`": "pipeline",
    "`kb-agent`": "agent",
    "`kb-app`": "app",
    "the Foundry project": "project",
    "the search service itself": "search",
    "who deploys": "principalId",
}
WHAT = {
    "storage account staging": "staging",
    "storage account serving": "serving",
    "search service": "search",
    "Foundry resource": "models",
    "container registry": "registry",
}


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_links_lead_somewhere(page) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there.read_text()), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_names_no_setting_that_there_is_not(page) -> None:
    named = set(re.findall(r"\bKB_[A-Z][A-Z_]*[A-Z]\b(?!_\*)", page.read_text()))
    prefixes = {"KB_STAGING", "KB_SERVING", "KB_CHAT"}  # of KB_STAGING_* and the like
    assert named <= SETTINGS | OF_DEPLOYING | prefixes


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0][:30])
def test_its_commands_are_shell(block: str) -> None:
    ran = subprocess.run(["sh", "-n"], input=block, capture_output=True, text=True, check=False)
    assert ran.stderr == ""


def test_its_settings_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [block for block in BLOCKS if re.search(r"^KB_\w+=", block, re.MULTILINE)]
    assert len(blocks) == 3
    for block in blocks:
        for name, value in re.findall(r"^(KB_\w+)=('[^']*'|\S+)", block, re.MULTILINE):
            monkeypatch.setenv(name, value.strip("'"))
        assert load_settings().index == "azure-ai-search"
        load_app_settings()
    assert dict(load_settings().search_fields)["content_vector"] == "contentVector"


def test_it_lists_the_roles_that_are_assigned() -> None:
    listed: set[tuple[str, str, str]] = set()
    who = ""
    for line in section("Identities and roles").splitlines():
        if not line.startswith("| "):
            continue
        name, what, roles, _ = (cell.strip() for cell in line.strip("|").split("|"))
        who = name or who
        if who == "who deploys":  # one role on each
            pairs = zip(what.split(", "), roles.split(", "), strict=True)
            listed |= {(WHAT[full(place)], WHO[who], role.replace(" ", "")) for place, role in pairs}
        elif what in WHAT and who in WHO:
            listed |= {(WHAT[what], WHO[who], role.replace(" ", "")) for role in roles.split(", ")}
    assert listed == grants()


def test_it_explains_every_role_that_an_error_may_name() -> None:
    words = (
        r"(?:Storage Blob Data|Search Index Data|Search Service|Cognitive Services|Cosmos DB Built-in Data)(?: OpenAI)?"
    )
    sources = [path.read_text() for folder in ("kb_pipeline", "app") for path in (ROOT / folder).rglob("*.py")]
    named = {role for source in sources for role in re.findall(rf"{words} (?:User|Reader|Contributor)", source)}
    assert len(named) >= 6
    assert [role for role in named if role not in section("Identities and roles")] == []


def full(place: str) -> str:
    """The whole name of a resource that is named by one word."""
    return next(name for name in WHAT if place in name)


def section(heading: str) -> str:
    return GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
