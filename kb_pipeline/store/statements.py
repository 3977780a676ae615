"""What the published articles state, and which of these statements contradict one another, in a file of SQLite.

It follows from the published articles and may be removed: the next run makes it again.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from kb_pipeline.steps.agreement.comparing import Weights
from kb_pipeline.steps.agreement.findings import Finding, Place
from kb_pipeline.steps.agreement.statements import ArticleStatement
from kb_pipeline.store.sqlite_file import SqliteFile

_TABLES = """
CREATE TABLE IF NOT EXISTS articles (
    article_id TEXT PRIMARY KEY, version TEXT NOT NULL, title TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS statements (
    key INTEGER PRIMARY KEY, article_id TEXT NOT NULL REFERENCES articles ON DELETE CASCADE, body TEXT NOT NULL,
    compared INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS statements_of ON statements (article_id);
CREATE INDEX IF NOT EXISTS not_compared ON statements (compared) WHERE compared = 0;
CREATE TABLE IF NOT EXISTS words (
    word TEXT NOT NULL, key INTEGER NOT NULL REFERENCES statements ON DELETE CASCADE, article_id TEXT NOT NULL,
    PRIMARY KEY (word, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS words_of ON words (key);
CREATE TABLE IF NOT EXISTS findings (
    one INTEGER NOT NULL REFERENCES statements ON DELETE CASCADE,
    other INTEGER NOT NULL REFERENCES statements ON DELETE CASCADE,
    kind TEXT NOT NULL, one_says TEXT NOT NULL, other_says TEXT NOT NULL, run_id TEXT NOT NULL,
    PRIMARY KEY (one, other)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS findings_of_other ON findings (other);
"""
_RARE_WORDS, _RARE_AROUND = 6, 4
"""Words of a statement, and around it, by which others are found: the rarest say what it speaks of."""
_MOST_WITH_WORDS = 1_000
"""Statements that these words may have together; a word that goes beyond finds none. It bounds what one statement costs
in a large knowledge base."""
_COMMON = 2
"""Of these words, how many another statement must have."""
_CACHED = 20_000
"""Statements that are kept in memory while others are compared with them: 2 kB each."""


class Kept(NamedTuple):
    """A statement as it is stored."""

    key: int
    article_id: str
    statement: ArticleStatement


class StatementStore(SqliteFile):
    """The statements of a knowledge base. One process at a time writes; several threads may read."""

    def __init__(self, path: Path) -> None:
        """Open the file, and create it if it is not there.

        Raises:
            StorageError: it cannot be used.
        """
        super().__init__(path, _TABLES, "remove it: it is made again")
        self._statement = lru_cache(_CACHED)(self._read)

    def versions(self) -> dict[str, str]:
        """The version of each article that was read, by article id."""
        return dict(self._rows("SELECT article_id, version FROM articles"))

    def replace(self, article_id: str, version: str, title: str, statements: Sequence[ArticleStatement]) -> None:
        """Replace what an article states; it is compared anew, and its findings are forgotten until then."""
        with self.transaction():
            self._remove([article_id])
            self._rows("INSERT INTO articles VALUES (?, ?, ?)", article_id, version, title)
            for statement in statements:
                rows = self._rows(
                    "INSERT INTO statements (article_id, body) VALUES (?, ?) RETURNING key",
                    article_id,
                    statement.model_dump_json(),
                )
                words = [(word, rows[0][0], article_id) for word in {*statement.words, *statement.around}]
                self._db.executemany("INSERT INTO words VALUES (?, ?, ?)", words)

    def remove(self, article_ids: Iterable[str]) -> None:
        """Remove what articles state, with all findings about it."""
        with self.transaction():
            self._remove(article_ids)

    def not_compared(self) -> list[Kept]:
        """The statements that were not compared with the others yet."""
        rows = self._rows("SELECT key FROM statements WHERE compared = 0 ORDER BY key")
        return [self._statement(key) for (key,) in rows]

    def weights(self) -> Weights:
        """How many articles have a word."""
        rows = self._rows("SELECT word, count(DISTINCT article_id) FROM words GROUP BY word")
        return Weights(dict(rows), self._rows("SELECT count(*) FROM articles")[0][0])

    def like(self, kept: Kept, *, in_own_article: bool = False) -> list[Kept]:
        """The statements of the other articles, or of its own, that share rare words with one; without it."""
        own = frozenset(kept.statement.words)
        rare = [*self._rarest(own, _RARE_WORDS), *self._rarest(kept.statement.around - own, _RARE_AROUND)]
        keys = self._rows(
            "SELECT key FROM words WHERE word IN (SELECT value FROM json_each(?)) AND key <> ? "
            "AND (article_id = ?) = ? GROUP BY key HAVING count(*) >= ?",
            json.dumps(rare),
            kept.key,
            kept.article_id,
            in_own_article,
            _COMMON,
        )
        return [self._statement(key) for (key,) in keys]

    def _rarest(self, words: Collection[str], number: int) -> list[str]:
        """The rarest of the words, as far as few enough statements have them."""
        counts = self._rows(
            "SELECT word, count(*) FROM words WHERE word IN (SELECT value FROM json_each(?)) GROUP BY word",
            json.dumps(sorted(words)),
        )
        by_count = sorted(counts, key=itemgetter(1))[:number]
        together = accumulate(count for _, count in by_count)
        return [word for (word, _), count in zip(by_count, together, strict=True) if count <= _MOST_WITH_WORDS]

    def record(self, keys: Collection[int], findings: Iterable[tuple[int, int, str, str, str]], run_id: str) -> None:
        """Record that these statements were compared, and what was found: both keys, the kind, what either says."""
        with self.transaction():
            self._db.executemany("UPDATE statements SET compared = 1 WHERE key = ?", [(key,) for key in keys])
            self._db.executemany(
                "INSERT OR IGNORE INTO findings VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (one, other, kind, says, contradicted, run_id)
                    if one < other
                    else (other, one, kind, contradicted, says, run_id)
                    for one, other, kind, says, contradicted in findings
                ],
            )

    def findings(self, article_ids: Collection[str] | None = None) -> dict[str, list[Finding]]:
        """The findings by article id, of these articles or of all; each is told of both of its articles."""
        found: dict[str, list[Finding]] = {}
        rows = self._rows(
            "SELECT f.kind, f.one_says, f.other_says, f.run_id, a.article_id, x.title, a.body, b.article_id, y.title, "
            "b.body FROM findings f JOIN statements a ON a.key = f.one JOIN statements b ON b.key = f.other "
            "JOIN articles x ON x.article_id = a.article_id JOIN articles y ON y.article_id = b.article_id "
            "ORDER BY a.article_id, a.key, b.key"
        )
        for kind, says, other_says, run_id, article_id, title, body, other_id, other_title, other_body in rows:
            one = _place(article_id, title, body, says)
            other = _place(other_id, other_title, other_body, other_says)
            for here, there in ((one, other), (other, one)):
                if article_ids is None or here.article_id in article_ids:
                    finding = Finding(kind=kind, here=here, there=there, run_id=run_id)
                    found.setdefault(here.article_id, []).append(finding)
        return found

    def _read(self, key: int) -> Kept:
        article_id, body = self._rows("SELECT article_id, body FROM statements WHERE key = ?", key)[0]
        return Kept(key, article_id, ArticleStatement.model_validate_json(body))

    def _remove(self, article_ids: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM articles WHERE article_id = ?", [(each,) for each in article_ids])


def _place(article_id: str, title: str, body: str, says: str) -> Place:
    statement = ArticleStatement.model_validate_json(body)
    return Place(article_id=article_id, title=title, chunk_id=statement.chunk_id, text=statement.text, says=says)
