"""Code is exact: what a service read of it is replaced by what the author wrote."""

import pytest

from kb_pipeline_tests.steps.html.pages import markdown
from kb_pipeline_tests.steps.restore.services import restored, restored_text

CODE = 'def main(args):\n    print("--verbose", args)  # say more\n    return 0'
HTML = f'<p>Write this:</p><pre class="language-python">{CODE}</pre><p>Then run it.</p>'
WHOLE = f"Write this:\n\n```python\n{CODE}\n```\n\nThen run it."


@pytest.mark.parametrize(
    "read",
    [
        f"```\n{CODE}\n```",
        "```\ndef main(args):\n print(”—verbose”, args) # say more\n return O\n```",
        'def main(args): print("--verbose", args) # say more return 0',
        "def main(args):\n\nprint(“--verbose”, args) \\# say more\n\nreturn 0",
        "- def main(args):\n- print(“--verbose”, args)\n- return 0",
        "```\ndef main(args):\n```\n\n```\nprint(“--verbose”, args)\nreturn 0\n```",
    ],
)
def test_a_code_block_is_as_in_the_page(read: str) -> None:
    assert restored_text(HTML, f"Write this:\n\n{read}\n\nThen run it.") == WHOLE


def test_two_blocks_that_were_read_as_one_are_two() -> None:
    html = "<pre>first command here</pre><pre>second thing there</pre>"
    assert restored_text(html, "```\nfirst command here\nsecond thing there\n```") == markdown(html)


def test_a_block_that_is_not_there_is_told() -> None:
    article = restored(HTML, "Write this:\n\nThen run it.")
    assert "1 code block not found again" in article.warnings[0]


def test_text_that_was_taken_for_code_is_text() -> None:
    assert (
        restored_text("<p>Some plain words of text.</p>", "    Some plain words of text.")
        == "Some plain words of text."
    )


@pytest.mark.parametrize(
    "read",
    [
        "    If you click History, the log is displayed at once.",
        "```\nIf you click History, the log is displayed at once.\n```",
        "If you `click History, the log is displayed` at once.",
    ],
)
def test_a_link_in_text_that_was_taken_for_code_is_on_its_words(read: str) -> None:
    html = "<p>Before the list.</p><p>If you click History, <a href='log.html'>the log</a> is displayed at once.</p>"
    assert restored_text(html, f"Before the list.\n\n{read}") == markdown(html)


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<p>Run <code>git push --force</code> now.</p>", "Run git push —force now."),
        ("<p>Run <code>git push --force</code> now.</p>", "Run `git push -force` now."),
        ("<p>Call <code>main()</code> (or <code>x</code>).</p>", "Call main() (or x)."),
        ("<p>Set <code>a|b</code> and <code>`tick`</code>.</p>", "Set a|b and tick."),
        ("<p>A word is text.</p>", "A `word is` text."),
        ("<ul><li><a href='a.html'><code>ls -l</code></a> lists</li></ul>", "- ls -l lists"),
        (
            "<table><tr><th>K</th><th>V</th></tr><tr><td><code>a|b</code></td><td>x</td></tr></table>",
            "| K | V |\n|-|-|\n| a\\|b | x |",
        ),
    ],
)
def test_code_in_sentences_is_as_in_the_page(html: str, read: str) -> None:
    assert restored_text(html, read) == markdown(html)
