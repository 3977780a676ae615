"""The Makefile says what it does, and whoever names one of its targets names one that there is."""

import re
import subprocess
from pathlib import Path

import pytest

from kb_pipeline_tests.deploy.files import ROOT
from kb_pipeline_tests.docs_site import START, reachable

MAKEFILE = (ROOT / "Makefile").read_text()
RULES = dict(re.findall(r"^([a-z][a-z-]*):(?!=)(.*)$", MAKEFILE, re.MULTILINE))
NAMERS = [
    ROOT / ".github/pull_request_template.md",
    *(path for folder in (".github/workflows", ".ci", "scripts") for path in sorted((ROOT / folder).iterdir())),
    *sorted(page for page in reachable(ROOT / START) if page.suffix == ".md"),
]


def parts() -> set[str]:
    """Targets that others are made of."""
    needed = " ".join(rule.partition("##")[0] for rule in RULES.values())
    called = " ".join(re.findall(r"\$\(MAKE\)(.*)", MAKEFILE))
    return set(re.findall(r"[a-z][a-z-]*", needed + " " + called))


def test_every_target_that_is_not_part_of_another_says_what_it_does() -> None:
    assert [name for name, rule in RULES.items() if "## " not in rule and name not in parts()] == []


def test_make_alone_lists_them() -> None:
    printed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = dict(re.findall(r"^make (\S+) +(.+)$", printed, re.MULTILINE))
    assert listed == {name: rule.partition("## ")[2] for name, rule in RULES.items() if "## " in rule}


def test_every_target_is_phony() -> None:
    phony = {name for names in re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE) for name in names.split()}
    assert phony == RULES.keys()


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("path", NAMERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_targets_exist(path: Path) -> None:
    text = path.read_text()
    if path.suffix == ".md":
        text = "\n".join(re.findall(r"`{1,3}(?:bash\n)?(.*?)`", text, re.DOTALL))
    assert set(re.findall(r"(?:^|run: |&& )make ([a-z][a-z-]*)", text, re.MULTILINE)) <= RULES.keys()
