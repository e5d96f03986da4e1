"""The place that a person means, in a small warehouse written for this: tests/repos/depot."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.types import Hit

DEPOT = Path(__file__).parents[1] / "repos" / "depot"


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The warehouse, indexed."""
    folder = tmp_path_factory.mktemp("first") / "depot"
    shutil.copytree(DEPOT, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with Engine.open(str(folder)) as engine:
            yield engine


def first(depot: Engine, question: str, level: str = "chunk") -> Hit:
    return depot.search(question, level=level, limit=1).hits[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "path", "head"),
    [
        ("Crate", "java/Crate.java", "public final class Crate {"),  # below a comment that fills chunks; constructors
        ("Parcel", "java/Parcel.java", "public class Parcel {"),
        ("Label", "csharp/Label.cs", "public class Label\n"),  # in a namespace, and beside a property, of its name
        ("Pallet", "cpp/pallet.h", "class Pallet {"),  # constructors in the source file, and an alias
        ("Ledger", "py/depot/ledger.py", "class Ledger:"),  # exported again, and a heading
    ],
)
def test_the_name_of_a_type_finds_its_head(depot: Engine, name: str, path: str, head: str) -> None:
    for level in ("chunk", "symbol"):
        hit = first(depot, name, level)
        assert (hit.chunk.path, head in hit.chunk.text) == (path, True), level
    assert (hit.chunk.kind, hit.chunk.symbol.rpartition(".")[2]) == ("class", name)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("saving", "py/depot/book.py"),
        ("parsing", "py/depot/parser.py"),
        ("logging", "py/depot/log.py"),
    ],
)
def test_another_form_of_a_word_finds_the_same(depot: Engine, question: str, path: str) -> None:
    assert first(depot, question).chunk.path == path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("count crates on shelves", "py/depot/counting.py"),
        ("count_crates", "py/depot/counting.py"),
        ("legacy count crates", "py/depot/legacy/counting.py"),
        ("package weigh", "api/v2/weigh.go"),
        ("Weigh", "api/v2/weigh.go"),
        ("weigh a crate in v1", "api/v1/weigh.go"),
    ],
)
def test_the_living_copy_comes_before_an_older_one_unless_that_is_asked_for(
    depot: Engine, question: str, path: str
) -> None:
    assert first(depot, question).chunk.path == path


def test_a_document_of_the_name_does_not_come_before_the_code(depot: Engine) -> None:
    assert first(depot, "timber planks").chunk.path == "py/depot/timber.py"


@pytest.mark.parametrize("question", ["closing brackets", "end of block", "javascript callback"])
def test_a_chunk_of_brackets_does_not_win_on_meaning(depot: Engine, question: str) -> None:
    """The smallest chunks are near to many questions by chance."""
    by_meaning = [hit.chunk.path for hit in depot.search(question, mode="vector", limit=3).hits]
    assert "web/gate.js" in by_meaning
    assert first(depot, question).chunk.path != "web/gate.js"
