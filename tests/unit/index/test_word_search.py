"""Files without an index: found by words, in a time that is kept to."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.errors import SourceError, UsageError
from codefathom.index.plan import Recipe
from codefathom.index.word_search import UnindexedFiles
from codefathom.mcp.tool_arguments import where_of
from codefathom.search.filter.filter_options import condition_of
from codefathom.stores.conditions import combine

FILES = {
    "src/token_bucket.py": "import time\n\n\nclass TokenBucket:\n    def refill(self):\n        return time.time()\n",
    "src/other.py": "# a bucket of words\n" * 40 + "def refill_the_token_bucket():\n    pass\n",
    "docs/guide.md": "# Guide\n\nRefill often.\n",
    "web/app.ts": "export function refill() { return 1 }\n",
    "data.bin": "\0\1\2 refill token bucket",
    "node_modules/left/pad.js": "refill token bucket\n",
    "keys.py": 'PASSWORD = "hG7kQ2-mule-staple-4Zt9"\n',
}


@pytest.fixture
def files(tmp_path: Path) -> UnindexedFiles:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return UnindexedFiles(Recipe(str(tmp_path)))


def test_the_rarest_words_and_the_path_decide(files: UnindexedFiles) -> None:
    result = files.search("where is the token bucket refilled")
    hits = {hit.chunk.path: hit for hit in result.hits}
    assert result.hits[0].chunk.path == "src/token_bucket.py"
    assert "def refill_the_token_bucket" in hits["src/other.py"].chunk.text  # the lines with the most of them
    assert hits["src/other.py"].line == 41
    assert all(0 < hit.score <= 1 for hit in result.hits)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    for hit in result.hits:
        lines = FILES[hit.chunk.path].split("\n")
        assert hit.chunk.text.split("\n")[:-1] == lines[hit.chunk.start_line - 1 : hit.chunk.end_line]
    assert not {"data.bin", "node_modules/left/pad.js"} & hits.keys()
    assert "Preliminary" in result.degraded[0]


@pytest.mark.parametrize(
    ("question", "paths", "languages", "expected"),
    [
        ("refill", ("web",), (), {"web/app.ts"}),
        ("refill", ("**/*.md",), (), {"docs/guide.md"}),
        ("refill", (), ("typescript",), {"web/app.ts"}),
        ("refill lang:markdown", (), (), {"docs/guide.md"}),
        ("@docs/ refill", (), (), {"docs/guide.md"}),
        ("@@TokenBucket", ("src/token_bucket.py",), (), {"src/token_bucket.py"}),
        ("refill", ("nowhere",), (), set()),
        ("zebra", (), (), set()),
    ],
)
def test_it_is_kept_to_paths_and_languages(
    files: UnindexedFiles, question: str, paths: tuple[str, ...], languages: tuple[str, ...], expected: set[str]
) -> None:
    in_language = condition_of({"language_filter": languages})
    result = files.search(question, where=combine(where_of(paths), in_language))
    assert {hit.chunk.path for hit in result.hits} == expected
    assert (result.confidence > 0) is bool(expected)


def test_no_value_of_a_secret_is_found_or_shown(files: UnindexedFiles) -> None:
    assert not files.search("staple").hits
    assert "PASSWORD" in files.lines("keys.py").text
    assert "staple" not in files.lines("keys.py").text


def test_a_search_stops_when_its_time_is_over(files: UnindexedFiles, tmp_path: Path) -> None:
    ticks = iter(range(1_000))
    slow = UnindexedFiles(Recipe(str(tmp_path)), clock=lambda: float(next(ticks)))  # a second for each look at it
    result = slow.search("refill", limit_s=2.5)
    assert "in 2 of 6 files" in result.degraded[0]
    assert len(result.hits) <= 2
    assert "in 6 of 6 files" in files.search("refill", limit_s=1e9).degraded[0]


def test_a_file_that_goes_meanwhile_is_left_out(files: UnindexedFiles, tmp_path: Path) -> None:
    assert files.search("refill", limit=1).hits
    (tmp_path / "src/token_bucket.py").unlink()
    assert "src/token_bucket.py" not in {hit.chunk.path for hit in files.search("refill bucket").hits}
    with pytest.raises(SourceError):
        files.lines("src/token_bucket.py")


def test_lines_are_those_that_were_asked_for(files: UnindexedFiles) -> None:
    assert files.lines("docs/guide.md", 3, 3).text == "Refill often.\n"
    assert files.lines("docs/guide.md", 2).text == "\nRefill often.\n"
    with pytest.raises(UsageError, match="no line 9"):
        files.lines("docs/guide.md", 9)
    for path in ("../secret", "data.bin", "node_modules/left/pad.js", "/etc/passwd", ""):
        with pytest.raises(SourceError):
            files.lines(path)
    with pytest.raises(UsageError):
        files.search("  ")
