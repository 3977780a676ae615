"""Staging folders of any size, made of the sections of real articles.

    python -m benchmarks.generate TARGET --articles 10000 [--from STAGING ...] [--seed 1]
        [--images 2] [--distinct-images N]

Every article has an id, a title and words of its own; every screenshot has pixels of its own, unless
`--distinct-images` bounds how many there are. The same arguments make the same bytes, and article
number n is the same however many there are.
"""

import argparse
import io
import random
import shutil
from dataclasses import dataclass
from html import escape
from pathlib import Path

from PIL import Image

from benchmarks.material import PICTURE, WORD, Material, Section, Shell, load_material
from kb_pipeline.staging import INDEX_FILE

SAMPLES = Path(__file__).parents[1] / "samples" / "staging"

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_WORD_SYLLABLES = 4
_FEWEST_SECTIONS = 2


@dataclass(frozen=True)
class Recipe:
    """What decides about the bytes, besides the material; ``distinct_images`` 0: as many as there are places."""

    seed: int = 1
    images: int = 2
    distinct_images: int = 0


def main() -> None:
    """Generate what the command line asks for."""
    arguments = _arguments()
    recipe = Recipe(arguments.seed, arguments.images, arguments.distinct_images)
    material = load_material(arguments.sources or [SAMPLES])
    generate(arguments.target, arguments.articles, material, recipe)
    print(f"{arguments.articles} articles in {arguments.target}")


def generate(target: Path, articles: int, material: Material, recipe: Recipe, first: int = 0) -> list[str]:
    """Write ``articles`` article folders, numbered from ``first``; returns their ids."""
    return [_write(target, number, material, recipe) for number in range(first, first + articles)]


def own_word(number: int, seed: int) -> str:
    """A word that no other number below 24 million has."""
    size = len(_SYLLABLES)
    rest = (number * 15_485_863 + seed) % size**_WORD_SYLLABLES  # a prime: neighbours get unlike words
    parts = []
    for _ in range(_WORD_SYLLABLES):
        rest, syllable = divmod(rest, size)
        parts.append(_SYLLABLES[syllable])
    return "".join(parts)


def _write(target: Path, number: int, material: Material, recipe: Recipe) -> str:
    chance = random.Random(f"{recipe.seed}/{number}")
    word = own_word(number, recipe.seed)
    shell = chance.choice(material.shells)
    sections = _choose(chance, material.sections, shell.size)
    folder = target / f"{word}-{number:06d}"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    screenshots = _write_screenshots(folder, number, chance, material, recipe)
    for name in shell.icons.union(*(section.icons for section in sections)):
        (folder / name).write_bytes(material.icons[name])
    # last: without it the folder is no article yet
    (folder / INDEX_FILE).write_text(_page(shell, sections, word, screenshots), encoding="utf-8")
    return folder.name


def _choose(chance: random.Random, sections: tuple[Section, ...], size: int) -> list[Section]:
    """Different sections, about as much HTML as the article had that stood in the shell."""
    chosen: list[Section] = []
    for section in chance.sample(sections, min(20, len(sections))):
        if len(chosen) >= _FEWEST_SECTIONS and sum(len(each.html) for each in chosen) + len(section.html) / 2 > size:
            break
        chosen.append(section)
    return chosen


def _page(shell: Shell, sections: list[Section], word: str, screenshots: list[str]) -> str:
    title = escape(f"{word.capitalize()}: {sections[0].title}")
    body = "".join(_place(section.html, screenshots, word) for section in sections)
    rest = "".join(f"<p>{_image(name, word)}</p>" for name in screenshots)
    intro = f"<h1>{title}</h1><p>This article is about {word}. It holds {len(sections)} sections.</p>"
    return f"{_retitled(shell.before, title)}{intro}{body}{rest}{shell.after}".replace(WORD, word)


def _place(html: str, screenshots: list[str], word: str) -> str:
    """Fill the places for pictures while there are some left, taking them from ``screenshots``."""
    first, *others = html.split(PICTURE)
    return first + "".join((_image(screenshots.pop(0), word) if screenshots else "") + other for other in others)


def _image(name: str, word: str) -> str:
    return f'<img src="{name}" alt="The window of {word}">'


def _retitled(before: str, title: str) -> str:
    start, opened, rest = before.partition("<title>")
    return f"{start}<title>{title}{rest[rest.find('</title>') :]}" if opened else before


def _write_screenshots(
    folder: Path, number: int, chance: random.Random, material: Material, recipe: Recipe
) -> list[str]:
    names = [f"screenshot-{place}.image" for place in range(1, recipe.images + 1)] if material.pictures else []
    for place, name in enumerate(names):
        variant = number * recipe.images + place
        if recipe.distinct_images:
            variant = chance.randrange(recipe.distinct_images)
        (folder / name).write_bytes(_screenshot(material.pictures, variant))
    return names


def _screenshot(pictures: tuple[Image.Image, ...], variant: int) -> bytes:
    """One of the pictures with the variant's number in its upper left pixels."""
    image = pictures[variant % len(pictures)].copy()
    for bit in range(32):
        image.putpixel((bit, 0), 255 * (variant >> bit & 1))
    sink = io.BytesIO()
    image.save(sink, "PNG", compress_level=1)
    return sink.getvalue()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--articles", type=int, required=True)
    parser.add_argument("--from", dest="sources", nargs="+", type=Path, help="real articles; default: the samples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=2, help="screenshots in each article")
    parser.add_argument("--distinct-images", type=int, default=0, help="different screenshots in all; 0: all differ")
    return parser.parse_args()


if __name__ == "__main__":
    main()
