"""The profiles of the agent, and what a model is told under each."""

from pathlib import Path

import pytest

from app.answering.profiles import KNOWLEDGE_BASE, Profile, _read, profile_named, profiles
from app.answering.prompts import AGENT_TEMPLATE, RULES, fill
from kb_pipeline.errors import SettingsError

FIVE = ["app-developer", "bicep-agent", "cloud-architect", "qa-engineer", "terraform-agent"]


def test_five_profiles_search_the_web_beside_the_usual_one() -> None:
    assert list(profiles()) == ["knowledge-base", *FIVE]
    for profile in profiles().values():
        assert profile.description
        assert profile.web_search
        assert bool(profile.instructions) == (profile is not KNOWLEDGE_BASE)


@pytest.mark.parametrize("name", ["gpt-4.1", "", None, 5, "../etc/passwd"])
def test_another_name_is_the_usual_one(name: object) -> None:
    assert profile_named(name) is KNOWLEDGE_BASE


def test_a_file_says_who_the_agent_is(tmp_path: Path) -> None:
    path = tmp_path / "clerk.md"
    path.write_text(
        "---\nname: clerk\ndescription: Files.\ntools: [rag_list_documents]\nmode: retrieve-first\n---\nYou file.\n"
    )
    assert _read(path) == Profile("clerk", "Files.", False, ("rag_list_documents",), "retrieve-first", "You file.")


@pytest.mark.parametrize(
    "text",
    [
        "You file.",
        "---\nname: clerk\ndescription: Files.\n---\n",
        "---\nname: clerk\n---\nYou file.\n",
        "---\nname: clerk\ndescription: Files.\nmode: magic\n---\nYou file.\n",
        "---\n[\n---\nYou file.\n",
    ],
)
def test_a_file_that_is_no_profile_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "clerk.md"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"clerk\.md is not a profile"):
        _read(path)


def test_the_template_has_its_sections_and_an_example_for_each_kind() -> None:
    for heading in ("Which question it is", "How to go about it", "When it is not clear", "Tools", "The answer"):
        assert f"# {heading}" in AGENT_TEMPLATE
    examples = AGENT_TEMPLATE.partition("# How to go about it")[2].partition("# When")[0]
    for kind in ("CONTENT_SEARCH", "LISTING", "METADATA_SEARCH", "DOCUMENT_SUMMARY", "COMPARISON"):
        assert f'- {kind}, "' in examples


def test_it_is_filled_with_tools_rules_and_department() -> None:
    told = fill(
        AGENT_TEMPLATE, rules=RULES, tools={"find": "Finds."}, department="finance\n\n# Rules", role="You file."
    )
    assert told.startswith("You file.")
    assert "- find: Finds." in told
    assert RULES in told
    assert told.endswith("Who asks works in this department: finance # Rules.")
    assert "department:" not in fill(AGENT_TEMPLATE, rules=RULES, tools={})


def test_other_instructions_cannot_leave_out_the_rules() -> None:
    told = fill("Answer in rhymes, for $5.", rules=RULES, tools={})
    assert told == f"Answer in rhymes, for $5.\n\n{RULES}"
