"""Learn which blocks of a web page are its main content: from the pages of WCXB's development split, and from manuals.

    pip install lightgbm
    python -m benchmarks.web_content_training WCXB --manuals STAGING ... [--folds 2] [--out FILE]

Each block is labelled by how many of its words stand in the annotated text in the same order. In a manual's page, what
our own rules leave is all main content: so it is learned that notes, code, tables and lists of links are. The folds
tell how good the model is on pages that it did not see; the model that is written learns from all. WCXB's test split is
not read here.
"""

import argparse
import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.steps.html.content import fullest_page
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.html.dom import Element
from kb_pipeline.steps.html.hidden import HiddenText
from kb_pipeline.steps.html.main_content import MODEL_FILE, chosen
from kb_pipeline.steps.html.text_blocks import Flags, Numbers, TextBlocks

if TYPE_CHECKING:
    import lightgbm

_WORD = re.compile(r"\w+")
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_FEWEST_PAGES = 8
"""So many pages have a name whose score is learned."""
_EVERY = 4
"""Every so manieth page of a manual is learned from; they are much alike."""
_PARAMETERS = {
    "objective": "cross_entropy",
    "learning_rate": 0.08,
    "num_leaves": 31,
    "max_depth": 7,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
    "verbose": -1,
    "num_threads": 1,
    "seed": 1,
    "deterministic": True,
}


@dataclass
class Page:
    """A page with the label of each block that has text."""

    blocks: TextBlocks
    kind: str
    words: list[list[str]]
    labels: Numbers
    expected: Counter[str]
    file: str = ""

    def kept(self, likely: Numbers) -> Flags:
        """Which blocks are chosen for these probabilities."""
        words = self.blocks.words()
        return chosen(self.blocks.as_tables(likely, words), words)

    def f1(self, kept: Flags) -> float:
        """The benchmark's measure of the words in the blocks that are kept."""
        found = Counter(word for words, is_kept in zip(self.words, kept, strict=True) if is_kept for word in words)
        common = (found & self.expected).total()
        if not self.expected or not found:
            return float(not self.expected and not found)
        return 2 * common / (found.total() + self.expected.total())


def main() -> None:
    """Learn, measure, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wcxb", type=Path)
    parser.add_argument("--manuals", type=Path, nargs="*", default=[], help="folders with an article in each folder")
    parser.add_argument("--folds", type=int, default=2, help="how many of four are measured")
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--out", type=Path, default=Path("kb_pipeline/steps/html") / MODEL_FILE)
    arguments = parser.parse_args()
    read = (*_pages(arguments.wcxb / "dev"), *_manuals(arguments.manuals))
    pages = [page for page in read if len(page.labels)]
    print(f"{len(pages)} pages, {sum(len(page.labels) for page in pages):,} blocks", flush=True)
    fold = np.random.RandomState(0).randint(0, 4, len(pages))
    # a page's names are scored by the other pages, as they are when the model is used
    scores = [
        _name_scores([page for page, other in zip(pages, fold, strict=True) if other != each]) for each in range(4)
    ]
    features = [page.blocks.features(scores[each]) for page, each in zip(pages, fold, strict=True)]
    print(f"{features[0].shape[1]} features", flush=True)
    measured: list[tuple[str, float]] = []
    for each in range(arguments.folds):
        booster = _learn(pages, features, np.flatnonzero(fold != each), arguments.rounds)
        for place in np.flatnonzero(fold == each):
            page = pages[place]
            measured.append((page.kind, page.f1(page.kept(booster.predict(features[place])))))
        _print(measured)
    booster = _learn(pages, features, range(len(pages)), arguments.rounds)
    _write(booster, _name_scores(pages), arguments.out)


def _pages(split: Path) -> Iterator[Page]:
    for file in sorted((split / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_bytes())
        html = gzip.decompress((split / "html" / f"{file.stem}.html.gz").read_bytes())
        kind = truth["_internal"]["page_type"]["primary"]
        try:
            # style sheets are not read, to save hours
            page = fullest_page(decode(file.stem, html), _take_out_marked)
        except KnowledgeBaseError:
            continue
        if page is None:
            continue
        blocks = TextBlocks(page.body, page.title, page.purpose)
        words = [_WORD.findall(blocks.texts[block].lower()) for block in blocks.with_text]
        text = truth["ground_truth"].get("main_content") or ""
        expected = Counter(_WORD.findall(text.lower()))
        yield Page(
            blocks, "collection" if kind == "category" else kind, words, _labels(words, text), expected, file.stem
        )


def _manuals(folders: Sequence[Path]) -> Iterator[Page]:
    for file in (file for folder in folders for file in sorted(folder.glob("*/index.html"))[::_EVERY]):
        page = fullest_page(decode(file.parent.name, file.read_bytes()), _take_out_marked)
        if page is not None:
            blocks = TextBlocks(page.body, page.title, page.purpose)
            words = [_WORD.findall(blocks.texts[block].lower()) for block in blocks.with_text]
            expected = Counter(word for own in words for word in own)
            yield Page(blocks, "manual", words, np.ones(len(words)), expected, file.parent.name)


def _take_out_marked(page: Element) -> list[HiddenText]:
    """Take out what an element itself says to be hidden."""
    for element in list(page.iter()):
        is_silent = element.get("aria-hidden") == "true" and element.find(".//img") is None
        if element.tag not in ("html", "body") and (
            element.get("hidden") is not None
            or _UNSEEN.search(element.get("style") or "")
            or (is_silent and element.tag not in ("div", "main", "section", "article"))
        ):
            element.tag = "template"
    return []


def _labels(blocks: Sequence[Sequence[str]], text: str) -> Numbers:
    """How much of each block stands in the text; a word or two that may stand anywhere count as their neighbours do."""
    words = _WORD.findall(text.lower())
    triples, joined = set(zip(words, words[1:], words[2:], strict=False)), f" {' '.join(words)} "
    lines = {" ".join(_WORD.findall(line.lower())) for line in text.split("\n")}
    labels = np.full(len(blocks), np.nan)
    for place, own in enumerate(blocks):
        if len(own) >= 3:
            hits = np.zeros(len(own), bool)
            for start in range(len(own) - 2):
                if tuple(own[start : start + 3]) in triples:
                    hits[start : start + 3] = True
            labels[place] = hits.mean()
        elif own and " ".join(own) in lines:
            labels[place] = 1.0
        elif own and f" {' '.join(own)} " not in joined:
            labels[place] = 0.0
    known = ~np.isnan(labels)
    for place in np.flatnonzero(~known):
        around = [*labels[max(0, place - 3) : place][known[max(0, place - 3) : place]][-1:]]
        around += [*labels[place + 1 : place + 4][known[place + 1 : place + 4]][:1]]
        labels[place] = float(bool(around) and np.mean(around) >= 0.5)
    return labels


def _name_scores(pages: Sequence[Page]) -> dict[str, float]:
    """The log-odds that what is named so is main content."""
    kept, seen = Counter[str](), Counter[str]()
    for page in pages:
        shares: dict[str, list[float]] = defaultdict(list)
        for names, share in page.blocks.shares_of(page.labels):
            for name in names:
                shares[name].append(share)
        for name, of_name in shares.items():
            seen[name] += 1
            kept[name] += float(np.mean(of_name))  # type: ignore[assignment]
    return {
        name: round(math.log((kept[name] + 1) / (seen[name] - kept[name] + 1)), 2)
        for name in seen
        if seen[name] >= _FEWEST_PAGES
    }


def _learn(pages: Sequence[Page], features: Sequence[Numbers], which: Sequence[int], rounds: int) -> "lightgbm.Booster":
    import lightgbm

    weights = [
        np.minimum(
            np.maximum([len(words) for words in pages[each].words], 0.5) / max(pages[each].expected.total(), 60), 1
        )
        for each in which
    ]
    data = lightgbm.Dataset(
        np.concatenate([features[each] for each in which]),
        np.concatenate([pages[each].labels for each in which]),
        weight=np.concatenate(weights),
    )
    return lightgbm.train(_PARAMETERS, data, rounds)


def _print(measured: Sequence[tuple[str, float]]) -> None:
    by_kind: dict[str, list[float]] = defaultdict(list)
    for kind, f1 in measured:
        by_kind[kind].append(f1)
        if kind != "manual":
            by_kind["all"].append(f1)
    print(
        {kind: (round(float(np.mean(values)), 3), len(values)) for kind, values in sorted(by_kind.items())}, flush=True
    )


def _write(booster: "lightgbm.Booster", name_scores: dict[str, float], out: Path) -> None:
    """Write the trees as arrays: a leaf points to itself."""
    trees = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    rows = [_rows(tree) for tree in trees]
    longest = max(map(len, rows))
    padded = np.array([row + [(0, np.inf, 0, 0, 0.0)] * (longest - len(row)) for row in rows])
    feature, threshold, left, right, value = np.moveaxis(padded, 2, 0)
    np.savez_compressed(
        out,
        feature=feature.astype(np.int16),
        threshold=threshold.astype(np.float32),
        left=left.astype(np.int16),
        right=right.astype(np.int16),
        value=value.astype(np.float32),
        names=np.array(sorted(name_scores)),
        scores=np.array([name_scores[name] for name in sorted(name_scores)], np.float32),
    )
    print(f"{out}: {out.stat().st_size:,} bytes, {len(trees)} trees, {len(name_scores):,} names")


def _rows(tree: dict[str, Any]) -> list[tuple[float, ...]]:
    rows: list[tuple[float, ...]] = []

    def add(node: dict[str, Any]) -> int:
        place = len(rows)
        rows.append((0, np.inf, place, place, node.get("leaf_value", 0.0)))
        if "split_feature" in node:
            # a 32-bit threshold must not fall below the value that it let pass
            threshold = np.nextafter(np.float32(node["threshold"]), np.float32(np.inf))
            left, right = add(node["left_child"]), add(node["right_child"])
            rows[place] = (node["split_feature"], float(threshold), left, right, 0.0)
        return place

    add(tree)
    return rows


if __name__ == "__main__":
    main()
