from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from training.order_questions import mine, read_questions  # noqa: E402
from training.sources import Source, forbidden, read_sources  # noqa: E402

SOURCES = read_sources(ROOT / "training" / "order_sources.json")
# The mined text is not passed on: these ask that their own files stay under their licence.
WEAK_COPYLEFT = {"MPL-2.0", "EPL-1.0"}
CODE = '''"""What money of one country costs in another.

More of it.
"""


def convert_between_currencies(amount, rate):
    """Change an amount of one currency into another."""
    return amount * rate


class ExchangeOffice:
    """Keep the rates of the day for every currency pair.

    Closed at night.
    """

    def open_for_today(self):
        return self
'''


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mine a repository with five commits, of which two make questions."""
    folder = tmp_path_factory.mktemp("mirror")
    git = folder / "owner+rates" / "repo"
    git.mkdir(parents=True)

    def commit(path: str, text: str, message: str) -> None:
        (git / path).parent.mkdir(parents=True, exist_ok=True)
        (git / path).write_text(text)
        run("add", "-A")
        run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", message)

    def run(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(git), *words], check=True, capture_output=True, text=True, timeout=LONG_S
        ).stdout

    run("init", "-q")
    commit("rates.py", CODE.replace("* rate", "/ rate"), "Begin")
    commit("tests/test_rates.py", "def test_rates():\n    pass\n", "Add tests")
    commit("rates.py", CODE, "fix: Multiply by the rate instead of dividing (#12)")
    commit("rates.py", CODE + "\n", "Bump version to 2.0")
    body = "An office that opens at night used the rates of the day before. " * 5
    commit("rates.py", f"{CODE}\nNIGHT = True\n", f"Use the rates of the night\n\n{body}\n\nSigned-off-by: A <a@b>")
    source = Source("owner/rates", "", run("rev-parse", "HEAD").strip(), "MIT", "learn", language="python")
    name, counts = mine(source, folder, folder / "out")
    assert name == "owner/rates"
    assert counts == {"symbol": 3, "commit": 1, "issue": 1, "topic": 1, "doc": 2}
    return folder / "out" / "owner+rates"


def test_each_question_is_answered_by_the_file_it_is_about(mined: Path) -> None:
    assert {question.paths for question in read_questions(mined)} == {("rates.py",)}


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("commit", {"Multiply by the rate instead of dividing"}),
        ("symbol", {"convert_between_currencies", "ExchangeOffice", "open_for_today"}),
        ("topic", {"What money of one country costs in another."}),
        (
            "doc",
            {"Change an amount of one currency into another.", "Keep the rates of the day for every currency pair."},
        ),
    ],
)
def test_questions_of_a_kind(mined: Path, kind: str, texts: set[str]) -> None:
    assert {question.text for question in read_questions(mined) if question.kind == kind} == texts


def test_an_issue_has_its_text_without_trailers(mined: Path) -> None:
    (issue,) = [question.text for question in read_questions(mined) if question.kind == "issue"]
    assert issue.startswith("Use the rates of the night\n\nAn office that opens at night")
    assert "Signed-off-by" not in issue


def test_the_documentation_that_questions_are_made_of_is_not_in_the_tree(mined: Path) -> None:
    text = (mined / "tree" / "rates.py").read_text()
    assert "Change an amount" not in text
    assert "Keep the rates" not in text
    assert "What money" not in text
    assert [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)] == [
        "convert_between_currencies",
        "ExchangeOffice",
    ], "a text that begins must end"
    assert "return amount * rate" in text


def test_the_manifest_holds_no_benchmark_and_a_fifth_of_it_is_kept_apart() -> None:
    excluded = (ROOT / "training" / "excluded.txt").read_text("utf-8").split()
    assert forbidden(SOURCES, excluded) == []
    assert len(SOURCES) >= 100
    languages = {source.language for source in SOURCES}
    assert len(languages) >= 15
    assert {source.language for source in SOURCES if source.split == "K"} == languages
    assert {source.split for source in SOURCES} == {"K", "learn"}
    assert {source.name for source in SOURCES}.isdisjoint(
        source.name for source in read_sources(ROOT / "training" / "sources.json")
    )


def test_licences_are_known() -> None:
    permissive = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib"}
    assert {source.licence for source in SOURCES} - permissive == WEAK_COPYLEFT
