"""Generated staging folders: real enough for the pipeline, unlike each other, the same again for a seed."""

from pathlib import Path

import pytest
from upath import UPath

from benchmarks.changes import add, delete, edit
from benchmarks.generate import SAMPLES, Recipe, generate, own_word
from benchmarks.material import WORD, Material, load_material
from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.settings import Settings
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.store.staging import Staging

Contents = dict[str, bytes]


@pytest.fixture(scope="module")
def material() -> Material:
    return load_material([SAMPLES])


def contents(folder: Path) -> Contents:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pages(staging: Path) -> Contents:
    return {name: data for name, data in contents(staging).items() if name.endswith(".html")}


def screenshots(staging: Path) -> Contents:
    return {name: data for name, data in contents(staging).items() if "/screenshot-" in name}


def test_the_same_seed_makes_the_same_bytes_and_another_seed_makes_others(tmp_path: Path, material: Material) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        generate(tmp_path / name, 5, material, Recipe(seed=seed))
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    assert contents(tmp_path / "one").keys().isdisjoint(contents(tmp_path / "other"))


def test_an_article_is_the_same_however_many_there_are(tmp_path: Path, material: Material) -> None:
    generate(tmp_path / "few", 3, material, Recipe())
    generate(tmp_path / "many", 6, material, Recipe())
    assert contents(tmp_path / "few").items() <= contents(tmp_path / "many").items()


@pytest.mark.slow("builds a whole knowledge base")
def test_articles_are_valid_and_each_has_a_title_text_and_screenshots_of_its_own(
    tmp_path: Path, material: Material
) -> None:
    article_ids = generate(tmp_path, 20, material, Recipe(images=3))
    listing = Staging(UPath(tmp_path)).list_articles()
    assert (set(listing.article_ids), listing.refused) == (set(article_ids), {})
    assert len(set(screenshots(tmp_path).values())) == 60
    converted = []
    for article_id in article_ids:
        files = contents(tmp_path / article_id)
        images = {name: probe_image(name, data) for name, data in files.items() if name != "index.html"}
        article = LocalAnalyzer(Settings()).convert(article_id, files["index.html"], images)
        assert all(f"[[IMG:screenshot-{place}.image]]" in article.markdown for place in (1, 2, 3))
        assert not any(0xFDD0 <= ord(char) <= 0xFDEF for char in article.markdown)
        converted.append(article)
    assert len({article.title for article in converted}) == 20
    assert len({article.markdown for article in converted}) == 20


@pytest.mark.parametrize(("images", "distinct", "expected"), [(2, 3, 3), (0, 0, 0), (1, 0, 30)])
def test_how_many_screenshots_differ(
    tmp_path: Path, material: Material, images: int, distinct: int, expected: int
) -> None:
    generate(tmp_path, 30, material, Recipe(images=images, distinct_images=distinct))
    assert len(screenshots(tmp_path)) == 30 * images
    assert len(set(screenshots(tmp_path).values())) == expected


def test_every_section_has_a_place_for_the_word_of_its_article(material: Material) -> None:
    assert len(material.sections) > 30
    assert all(WORD in section.html for section in material.sections)


def test_no_two_numbers_share_a_word() -> None:
    assert len({own_word(number, seed=7) for number in range(50_000)}) == 50_000


def test_edit_changes_one_sentence_in_a_share_of_the_articles(tmp_path: Path, material: Material) -> None:
    generate(tmp_path, 40, material, Recipe())
    before = contents(tmp_path)
    edited = edit(tmp_path, 0.1, seed=5)
    after = contents(tmp_path)
    assert len(edited) == 4
    assert {name for name in before if before[name] != after[name]} == {f"{each}/index.html" for each in edited}
    assert all(after[f"{each}/index.html"].count(b"edited in round 5") == 1 for each in edited)
    assert edit(tmp_path, 0.1, seed=6) != edited


def test_edit_passes_over_pages_without_a_sentence(tmp_path: Path) -> None:
    for article_id, html in {"bare": "<h1>No paragraph</h1>", "full": "<p>A sentence.</p>"}.items():
        (tmp_path / article_id).mkdir()
        (tmp_path / article_id / "index.html").write_text(html)
    assert edit(tmp_path, 0.5, seed=1) == ["full"]
    with pytest.raises(ValueError, match="only 1 articles"):
        edit(tmp_path, 1, seed=1)


def test_delete_removes_a_share_and_add_brings_new_articles(tmp_path: Path, material: Material) -> None:
    first = set(generate(tmp_path, 20, material, Recipe()))
    deleted = set(delete(tmp_path, 0.25, seed=1))
    added = set(add(tmp_path, 5, material, Recipe()))
    assert len(deleted) == len(added) == 5
    assert deleted < first
    assert {folder.name for folder in tmp_path.iterdir()} == first - deleted | added
    assert not added & first - deleted


def test_folders_without_text_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"no article with text in {tmp_path}"):
        load_material([tmp_path])
