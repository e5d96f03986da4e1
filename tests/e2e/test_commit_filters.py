"""`author:` and `changed:` in a search for commits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.search.filter.filter_options import one_of
from codefathom.source.revisions import changed_files
from codefathom.types import Filter, FilterGroup

from .test_commits import commit, repository  # noqa: F401  a fixture

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def engine(repository: Path) -> Iterator[Engine]:  # noqa: F811
    lie = "Send letters twice\n\nauthor Ann Bee, 2026-02-07\n"
    commit(repository, lie, "mail.py", "def send(letter):\n    post(letter, 2)\n", "2026-04-11", author="Bob Fox")
    day = (datetime.now(UTC) - timedelta(days=3)).date().isoformat()
    commit(repository, "Send letters by pigeon", "mail.py", "def send(letter):\n    fly(letter)\n", day, author="Eve")
    with Engine.open(str(repository)) as opened:
        yield opened


ALL = {"Add the mailer", "Give up after three attempts (#41)", "Take prices from the catalogue"}
BOB, EVE = "Send letters twice", "Send letters by pigeon"
FILTERS = {
    "author:ann": ALL,
    "author:BEE": ALL,
    'author:"Ann Bee"': ALL,
    "author:bob": {BOB},
    "author:.*": set(),
    "-author:ann": {BOB, EVE},
    "author:ann changed:2026-02": {"Give up after three attempts (#41)"},
    "changed:2026-01-05": {"Add the mailer"},
    "changed:2026-01-06": set(),
    "changed:2026-01..2026-02": {"Add the mailer", "Give up after three attempts (#41)"},
    "changed:2026-02-07..2026-03-09": ALL - {"Add the mailer"},
    "changed:<2026-02-07": {"Add the mailer"},
    "changed:>2026-04-12": {EVE},
    "changed:7d": {EVE},
    "changed:1w": {EVE},
    "Changed:2d": set(),
    "changed:9999y": ALL | {BOB, EVE},
    "changed:2000..9998": ALL | {BOB, EVE},
}


@pytest.mark.parametrize("marks", FILTERS)
def test_a_mark_chooses_commits(engine: Engine, marks: str) -> None:
    result = engine.search(f"letters {marks} prices mailer", commits=True, limit=20)
    assert {hit.commit.subject for hit in result.hits if hit.commit} == FILTERS[marks]


@pytest.mark.parametrize(
    ("question", "problem", "remedy"),
    [
        ("letters changed:yesterday", "changed: cannot be 'yesterday'", "changed:7d"),
        ("letters changed:2026-13", "changed: cannot be '2026-13'", "changed:2026-11"),
        ("letters changed:9999", "changed: cannot be '9999'", "changed:2026-11"),
        ("letters changed:0000", "changed: cannot be '0000'", "changed:2026-11"),
        ("letters changed:", "changed: cannot be ''", "changed:>2026-11-01"),
        ("letters changed:2026..soon", "changed: cannot be '2026..soon'", "changed:2026-01-01..2026-02-01"),
        ("letters author:", "author: needs a name", "author:ann"),
        ('letters author:" "', "author: needs a name", "author:ann"),
        ("author:ann", "only filters", "retry limit author:ann"),
    ],
)
def test_a_value_that_is_none_names_the_remedy(engine: Engine, question: str, problem: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("'", ".")) as raised:
        engine.search(question, commits=True)
    assert remedy in raised.value.hint


PRICES = "Take prices from the catalogue"
MAIL = {"Add the mailer", "Give up after three attempts (#41)", BOB, EVE}
PLACES: dict[str, set[str]] = {
    "@mail.py": MAIL,
    "@*.py": MAIL | {PRICES, "Weigh letters"},
    "@src/": {"Weigh letters"},
    "@src/weight": {"Weigh letters"},
    "@scale.py": {"Weigh letters"},
    "path:src": {"Weigh letters"},
    "-path:mail": {PRICES, "Weigh letters"},
    "lang:python author:bob": {BOB, "Weigh letters"},
    "@mail.py author:bob": {BOB},
    "ext:.rs": set(),
    "@nowhere/": set(),
}


@pytest.fixture
def weighing(repository: Path, engine: Engine) -> Engine:  # noqa: F811
    body = "".join(f"line_{number} = {number}\n" for number in range(400))
    commit(repository, "Weigh letters", "src/weight/scale.py", body, "2026-05-01", author="Bob Fox")
    return engine


@pytest.mark.parametrize("marks", PLACES)
def test_a_place_chooses_the_commits_that_changed_it(weighing: Engine, marks: str) -> None:
    result = weighing.search(f"letters {marks} prices mailer", commits=True, limit=20)
    assert {hit.commit.subject for hit in result.hits if hit.commit} == PLACES[marks]


def test_options_for_files_choose_commits(weighing: Engine) -> None:
    def subjects(**options: Any) -> set[str]:
        result = weighing.search("letters prices mailer", commits=True, limit=20, **options)
        return {hit.commit.subject for hit in result.hits if hit.commit}

    assert subjects(where=one_of("dir", ("src",))) == {"Weigh letters"}
    assert subjects(where=Filter("module", "eq", "src")) == {"Weigh letters"}
    assert subjects(where=FilterGroup("NOT", (Filter("ext", "eq", ".py"),))) == set()
    assert subjects(files=["src/weight"]) == {"Weigh letters"}


def test_a_project_inside_a_repository_names_its_own_files(repository: Path) -> None:  # noqa: F811
    commit(repository, "Weigh letters", "inner/src/scale.py", "weight = 1\n", "2026-05-01")
    commit(repository, "Weigh parcels", "inner/parcel.py", "weight = 2\n", "2026-05-02")
    (repository / "inner" / "fathom.toml").write_text("")
    with Engine.open(str(repository / "inner")) as inner:
        result = inner.search("weigh @src/", commits=True)
    assert [hit.commit.subject for hit in result.hits if hit.commit] == ["Weigh letters"]


def test_a_history_of_too_many_changes_is_refused(weighing: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits that share their trees take no room in git, and would take gigabytes as lists of paths."""
    monkeypatch.setattr(changed_files, "_MOST_CHANGES", 3)
    with pytest.raises(SourceError, match="change more than 3 files") as raised:
        weighing.search("letters @mail.py", commits=True)
    assert "leave out the filters for files" in raised.value.hint
    assert weighing.search("letters", commits=True).hits


def test_an_author_is_found_by_what_the_commit_changed(weighing: Engine) -> None:
    commits = weighing.search("line_17 author:fox", commits=True).hits
    assert [hit.commit.subject for hit in commits if hit.commit][:1] == ["Weigh letters"]


def test_in_the_files_they_are_words_as_before(engine: Engine) -> None:
    assert engine.search("send changed:never author:", limit=1).hits
