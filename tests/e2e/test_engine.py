"""The engine as a program uses it: small projects, real files, real index."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest
from tests.waiting import Started, join

from codefathom import Engine
from codefathom.config.settings import IndexSettings, ParseSettings, SearchSettings, Settings
from codefathom.errors import LockedError, SourceError, UsageError
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores.lock import writer_lock
from codefathom.types import SearchResult

FILES = {
    "auth/session.py": (
        '"""Sessions of signed-in users."""\n\n\n'
        "class SessionStore:\n"
        '    """Keeps sessions in memory."""\n\n'
        "    def refresh_token(self, user):\n"
        '        """Give the user a new token before the old one expires."""\n'
        "        return self.issue(user, ttl=3600)\n\n"
        "    def issue(self, user, ttl):\n"
        "        return (user, ttl)\n"
    ),
    "auth/routes.py": (
        "from auth.session import SessionStore\n\n\ndef login(request):\n"
        "    return SessionStore().refresh_token(request.user)\n"
    ),
    "web/retry.ts": (
        "export function retryWithBackoff(attempts: number): number {\n"
        "  // wait twice as long after each failure\n  return 2 ** attempts;\n}\n"
    ),
    "docs/guide.md": "# Guide\n\nHow to deploy the application to the production cluster.\n",
    "tests/test_session.py": (
        "from auth.session import SessionStore\n\n\ndef test_refresh_token():\n    assert SessionStore()\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "project"
    put(root, FILES)
    (root / "fathom.toml").write_text("")
    return root


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    with Engine.open(str(project)) as engine:
        yield engine


def put(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def age(root: Path) -> None:
    """Make every file old: a stamp near the start of a run is not trusted."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (1_600_000_000, 1_600_000_000))


def ask(project: Path, query: str, **options) -> SearchResult:
    """Ask a new engine, which looks at the tree."""
    with Engine.open(str(project)) as engine:
        return engine.search(query, **options)


def paths(result: SearchResult) -> list[str]:
    return [hit.chunk.path for hit in result.hits]


def places(result: SearchResult) -> list[tuple[str, int, int, str, float]]:
    return [(h.chunk.path, h.chunk.start_line, h.chunk.end_line, h.chunk.id, round(h.score, 5)) for h in result.hits]


def documents(engine: Engine) -> list[tuple[str, str, str, Sequence[tuple[str, str]]]]:
    catalog = engine.opened.catalog
    return [
        (d.path, d.language, catalog.text(d.path), [(c.id, c.text) for _, c in catalog.chunks_of(d.path)])
        for d in catalog.documents()
    ]


# ---- following the tree


def test_the_first_search_makes_the_index(project: Path, engine: Engine) -> None:
    assert not (project / ".fathom").exists()
    result = engine.search("refresh_token")
    assert paths(result)[0] == "auth/session.py"
    assert result.generation > 0
    assert (result.stale, result.degraded) == (False, ())
    assert (project / ".fathom" / ".gitignore").exists()


def test_an_added_file_is_found(project: Path) -> None:
    ask(project, "login")
    put(project, {"pay/invoice.py": "def charge_invoice(amount):\n    return amount\n"})
    result = ask(project, "charge_invoice")
    assert paths(result)[0] == "pay/invoice.py"
    assert not result.stale


def test_a_changed_file_is_found_by_what_it_says_now(project: Path) -> None:
    ask(project, "login")
    put(project, {"auth/routes.py": "def sign_in_zebra(request):\n    return request\n"})
    assert paths(ask(project, "sign_in_zebra"))[0] == "auth/routes.py"
    assert "auth/routes.py" not in paths(ask(project, "login", mode="lexical"))


def test_a_change_in_the_same_tick_as_the_run_is_found(project: Path) -> None:
    now = time.time_ns() + 3_600 * 10**9  # not before the run starts, as a coarse clock may show for both writes
    for word in ("aardvark", "capybara"):
        put(project, {"a.py": f"value = '{word}'\n"})
        os.utime(project / "a.py", ns=(now, now))
        ask(project, "login")
    assert paths(ask(project, "capybara", mode="lexical")) == ["a.py"]


@pytest.mark.parametrize("index_dir", ["", "build/index", "../kept"])
def test_a_folder_that_is_gone_is_not_made_again(project: Path, index_dir: str) -> None:
    with Engine.open(project, settings=Settings(index=IndexSettings(dir=index_dir))) as engine:
        engine.index()
        away = project.rename(project.with_name("away"))
        with pytest.raises(SourceError, match="gone"):
            engine.index()
        assert not project.exists()
        away.rename(project)
        assert engine.index().n_unchanged > 0


def test_a_deleted_file_is_gone(project: Path) -> None:
    assert "web/retry.ts" in paths(ask(project, "retryWithBackoff"))
    (project / "web/retry.ts").unlink()
    for mode in ("lexical", "vector", "symbol", "regex", "hybrid"):
        assert "web/retry.ts" not in paths(ask(project, "retryWithBackoff", mode=mode))


def test_a_renamed_file_is_found_under_its_new_name_only(project: Path) -> None:
    ask(project, "login")
    (project / "web/retry.ts").rename(project / "web/backoff.ts")
    found = paths(ask(project, "retryWithBackoff"))
    assert found[0] == "web/backoff.ts"
    assert "web/retry.ts" not in found


def test_another_case_of_a_name_is_another_name(project: Path, engine: Engine) -> None:
    engine.index()
    (project / "web/retry.ts").rename(project / "web/Retry.ts")
    report = engine.index()
    assert (report.added, report.removed) == (("web/Retry.ts",), ("web/retry.ts",))
    assert paths(engine.search("retryWithBackoff"))[0] == "web/Retry.ts"


def test_a_touched_file_is_read_and_not_indexed_again(project: Path, engine: Engine) -> None:
    engine.index()
    os.utime(project / "web/retry.ts", ns=(10**18, 10**18))
    report = engine.index()
    assert (report.added, report.changed, report.removed) == ((), (), ())
    assert report.n_touched >= 1
    assert paths(engine.search("retryWithBackoff"))[0] == "web/retry.ts"


def test_a_file_that_becomes_a_folder_and_back(project: Path, engine: Engine) -> None:
    put(project, {"thing": "pelican words\n"})
    engine.index()
    (project / "thing").unlink()
    put(project, {"thing/inner.py": "def flamingo():\n    pass\n"})
    engine.index()
    assert paths(engine.search("pelican", mode="lexical")) == []
    assert paths(engine.search("flamingo"))[0] == "thing/inner.py"


def long_function(name: str) -> str:
    return f"def {name}():\n" + "".join(f"    {name}_step_{n} = {n} * 2\n" for n in range(35)) + "\n\n"


def test_unchanged_chunks_stay_when_lines_move(project: Path, engine: Engine) -> None:
    put(project, {"long.py": long_function("alpha") + long_function("omega")})
    engine.index()
    before = engine.search("omega").hits[0].chunk
    put(project, {"long.py": long_function("first") + long_function("alpha") + long_function("omega")})
    engine.index()
    hit = engine.search("omega").hits[0]
    assert (hit.chunk.path, hit.chunk.id, hit.chunk.text) == ("long.py", before.id, before.text)
    assert hit.chunk.start_line == before.start_line + long_function("first").count("\n")
    assert "omega" in (project / "long.py").read_text().splitlines()[hit.line - 1]


def test_a_dry_run_writes_no_documents(project: Path, engine: Engine) -> None:
    report = engine.plan()
    assert report.dry_run
    assert set(FILES) <= set(report.added)
    assert engine.status().n_documents == 0
    assert engine.status().generation == 0


def test_a_full_index_changes_no_result(project: Path, engine: Engine) -> None:
    questions = ("refresh_token", "wait longer after failure", "deploy to production", "login")
    put(project, {"b.py": "x = 1\n"})
    engine.index()
    put(project, {"b.py": "def login_twice():\n    pass\n"})
    (project / "docs/guide.md").write_text("# Guide\n\nDeploy slowly.\n")
    engine.index()
    before = [places(engine.search(question)) for question in questions]
    assert set(engine.index(full=True).changed) >= set(FILES)
    assert [places(engine.search(question)) for question in questions] == before


# ---- asking


@pytest.mark.parametrize("mode", ["vector", "lexical", "symbol", "regex", "hybrid"])
@pytest.mark.parametrize("level", ["file", "symbol", "chunk"])
def test_every_mode_at_every_level(engine: Engine, mode: str, level: str) -> None:
    result = engine.search("refresh_token", mode=mode, level=level)
    assert (result.mode, result.level) == (mode, level)
    assert "auth/session.py" in paths(result)
    assert all(0.0 <= hit.score <= (math.inf if mode == "lexical" else 1.0) for hit in result.hits)
    assert all(hit.chunk.start_line <= hit.line <= hit.chunk.end_line for hit in result.hits)
    if level == "file":
        whole = next(hit.chunk for hit in result.hits if hit.chunk.path == "auth/session.py")
        assert whole.text == FILES["auth/session.py"]
        assert len(paths(result)) == len(set(paths(result)))


def test_the_symbol_level_gives_the_symbol(engine: Engine) -> None:
    hit = engine.search("refresh_token", level="symbol").hits[0]
    assert (hit.chunk.path, hit.chunk.symbol) == ("auth/session.py", "SessionStore.refresh_token")
    assert hit.chunk.text.startswith("    def refresh_token")


@pytest.mark.parametrize("mode", ["hybrid", "vector", "lexical", "symbol", "regex"])
def test_the_function_level_gives_functions_and_methods_only(engine: Engine, mode: str) -> None:
    symbols = engine.search("SessionStore", level="symbol", mode=mode, limit=100).hits
    functions = engine.search("SessionStore", level="function", mode=mode, limit=100).hits
    assert "class" in {hit.chunk.kind for hit in symbols}
    assert functions
    assert {hit.chunk.kind for hit in functions} <= {"function", "method"}
    in_routes = engine.search("e", level="function", mode="regex", where=parse_filter("name = routes.py")).hits
    assert {hit.chunk.path for hit in in_routes} == {"auth/routes.py"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("language = typescript", {"web/retry.ts"}),
        ('path starts with "auth/"', {"auth/session.py", "auth/routes.py"}),
        ('language = python and not path contains "test"', {"auth/session.py", "auth/routes.py"}),
        ("language = cobol", set()),
    ],
)
def test_filters(engine: Engine, condition: str, expected: set[str]) -> None:
    for mode in ("hybrid", "vector"):
        assert set(paths(engine.search("session token retry", where=parse_filter(condition), mode=mode))) == expected


def test_a_path_in_the_question_limits_it(engine: Engine) -> None:
    assert set(paths(engine.search("@auth/routes.py token"))) == {"auth/routes.py"}


def test_a_symbol_in_the_question_is_found(engine: Engine) -> None:
    assert paths(engine.search("@@retryWithBackoff"))[0] == "web/retry.ts"


def test_a_class_in_the_question_limits_it(engine: Engine) -> None:
    assert set(paths(engine.search("in:SessionStore token"))) == {"auth/session.py"}


def test_a_class_named_in_plain_words_limits_it_too(engine: Engine) -> None:
    result = engine.search("functions of class SessionStore about token")
    assert set(paths(result)) == {"auth/session.py"}
    assert result.plan.kept_to == "SessionStore"
    assert engine.search("functions of class Nowhere about token").plan.kept_to == ""


@pytest.mark.parametrize("query", ["", "   ", "@nowhere/at_all.py token", "@@noSuchNameAnywhere"])
def test_what_cannot_be_asked(engine: Engine, query: str) -> None:
    with pytest.raises(UsageError) as caught:
        engine.search(query)
    assert caught.value.hint


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": -1}, {"level": "line"}, {"mode": "magic"}])
def test_what_cannot_be_chosen(engine: Engine, options: dict) -> None:
    with pytest.raises(UsageError):
        engine.search("token", **options)


def test_nothing_found_says_what_to_try(engine: Engine) -> None:
    result = engine.search("xylophonequux", mode="lexical")
    assert result.hits == ()
    assert result.suggestion


def test_an_empty_project(project: Path) -> None:
    for path in FILES:
        (project / path).unlink()
    result = ask(project, "anything at all")
    assert set(paths(result)) <= {"fathom.toml"}


def test_a_limit_is_kept(engine: Engine) -> None:
    assert len(engine.search("session", limit=1).hits) == 1


def test_a_chain_without_grammars(project: Path) -> None:
    settings = Settings(parse=ParseSettings(chain=("text",)))
    with Engine.open(str(project), settings=settings) as engine:
        assert set(paths(engine.search("refresh_token"))[:2]) == {"auth/session.py", "auth/routes.py"}
    with Engine.open(str(project)) as engine:  # the parser changed: every file is parsed again
        assert set(engine.index().changed) >= set(FILES)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        Engine.open(str(tmp_path / "missing"))


# ---- the index


def test_an_export_can_be_taken_over(project: Path, tmp_path: Path, engine: Engine) -> None:
    put(project, {"odd/crlf.py": "", "odd/empty.txt": ""})
    (project / "odd/crlf.py").write_bytes(b"def crlf():\r\n    return 1\r\n")
    engine.index()
    lines = list(engine.export("jsonl"))
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(copy), settings=Settings(search=SearchSettings(refresh="never"))) as other:
        assert other.import_index(iter(lines), "jsonl") == len(lines)
        assert documents(other) == documents(engine)
        assert paths(other.search("refresh_token"))[0] == "auth/session.py"


def test_status_counts(project: Path, engine: Engine) -> None:
    age(project)
    assert engine.status().pending > 0
    engine.index()
    status = engine.status()
    assert status.n_documents == len(FILES) + 1  # and fathom.toml
    assert status.languages["python"] == 3
    assert status.n_chunks == sum(status.kinds.values()) > 0
    assert status.n_symbols >= 5
    assert (status.pending, status.n_without_vector, status.views_current) == (0, 0, True)
    assert (status.failures, status.paused) == ((), "")
    put(project, {"new.py": "x = 1\n"})
    (project / "docs/guide.md").unlink()
    assert engine.status().pending == 2


def test_the_doctor_finds_nothing(engine: Engine) -> None:
    engine.index()
    assert [check for check in engine.doctor() if not check.ok] == []


def test_a_binary_file_is_listed_and_not_opened_again(
    project: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "data.dat").write_bytes(bytes(range(256)) * 40)
    age(project)
    assert ("data.dat", "binary") in [(item.path, item.reason) for item in engine.index().skipped]
    assert ("data.dat", "binary") in [(item.path, item.reason) for item in engine.status().skipped]
    opened: list[str] = []
    monkeypatch.setattr(
        "codefathom.index.indexing.prepare_all", lambda jobs, *_: opened.extend(j.file.path for j in jobs) or []
    )
    engine.index()
    assert opened == []
    assert ("data.dat", "binary") in [(item.path, item.reason) for item in engine.status().skipped]


def test_a_file_that_becomes_binary_leaves_the_index(project: Path, engine: Engine) -> None:
    engine.index()
    (project / "web/retry.ts").write_bytes(b"\0\1\2\3" * 500)
    engine.index()
    assert "web/retry.ts" not in paths(engine.search("retryWithBackoff"))
    put(project, {"web/retry.ts": FILES["web/retry.ts"]})
    engine.index()
    assert paths(engine.search("retryWithBackoff"))[0] == "web/retry.ts"


def test_a_binary_file_that_is_gone_is_not_listed(project: Path, engine: Engine) -> None:
    (project / "data.dat").write_bytes(bytes(range(256)) * 40)
    engine.index()
    (project / "data.dat").unlink()
    engine.index()
    assert "data.dat" not in [item.path for item in engine.status().skipped]


# ---- several at once


def test_two_engines_in_threads(project: Path) -> None:
    errors: list[BaseException] = []
    found: list[str] = []

    def work(number: int) -> None:
        try:
            with Engine.open(str(project)) as engine:
                for step in range(5):
                    put(project, {f"new/n{number}_{step}.py": f"def fresh_{number}_{step}():\n    return 1\n"})
                    found.append(paths(engine.search("refresh_token"))[0])
                    try:
                        engine.index()
                    except LockedError:
                        continue
        except BaseException as error:
            errors.append(error)

    ask(project, "login")  # the index is there: who comes second searches what there is
    threads = [Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    join(*threads)
    assert errors == []
    assert set(found) == {"auth/session.py"}
    with Engine.open(str(project)) as engine:
        engine.index()
        assert engine.status().n_documents == len(FILES) + 1 + 10
        assert [check for check in engine.doctor() if not check.ok] == []


def test_one_engine_in_many_threads(engine: Engine) -> None:
    results: list[list[str]] = []
    threads = [Thread(target=lambda: results.append(paths(engine.search("refresh_token")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    join(*threads)
    assert len(results) == 8
    assert all(result == results[0] for result in results)


HOLD = """
import sys
from codefathom.stores.lock import writer_lock
with writer_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_search_while_another_process_writes_is_stale(project: Path) -> None:
    ask(project, "login")
    put(project, {"new.py": "def brand_new_thing():\n    pass\n"})
    command = [sys.executable, "-c", HOLD, str(project / ".fathom")]
    with Started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        result = ask(project, "refresh_token")
        assert result.stale
        assert paths(result)[0] == "auth/session.py"
        with Engine.open(str(project)) as engine, pytest.raises(LockedError):
            engine.index(wait_s=0)
        holder.stdin.close()
        holder.wait()
    result = ask(project, "brand_new_thing")
    assert (paths(result)[0], result.stale) == ("new.py", False)


def test_a_first_search_while_another_writes_is_an_error(project: Path) -> None:
    (project / ".fathom").mkdir()
    settings = Settings(index=Settings().index._replace(wait_s=0.0))
    engine = Engine.open(str(project), settings=settings)
    with writer_lock(str(project / ".fathom")), engine, pytest.raises(LockedError):
        engine.search("login")


@pytest.mark.parametrize("refresh", ["auto", "never"])
def test_what_another_engine_has_indexed_is_found_at_once(project: Path, refresh: str) -> None:
    settings = Settings(search=Settings().search._replace(refresh=refresh))
    with Engine.open(str(project), settings=settings) as reader, Engine.open(str(project)) as writer:
        assert reader.search("kangaroo", mode="lexical").hits == ()
        put(project, {"zoo.py": "def feed_kangaroo():\n    return 'grass'\n"})
        writer.index()
        found = reader.search("kangaroo", mode="lexical")
        assert [hit.chunk.path for hit in found.hits] == ["zoo.py"]
        assert found.generation == writer.generation
        assert not found.stale


def test_files_are_shown_as_they_are_now(engine: Engine, project: Path) -> None:
    engine.index()
    assert [file.path for file in engine.files.listed("auth/")] == ["auth/routes.py", "auth/session.py"]
    assert [(entry.name, entry.n_files) for entry in engine.files.entries()][:2] == [("auth", 2), ("docs", 1)]
    assert [entry.name for entry in engine.files.entries() if entry.file] == ["fathom.toml"]
    lines = engine.files.lines("web/retry.ts", 2, 3)
    assert lines.text == "".join(FILES["web/retry.ts"].splitlines(keepends=True)[1:3])
    assert engine.files.lines("web/retry.ts").text == FILES["web/retry.ts"]
    (project / "web" / "retry.ts").unlink()
    with pytest.raises(SourceError, match="is not there any more"):
        engine.files.lines("web/retry.ts")
    empty = engine.files.lines("fathom.toml")
    assert (empty.file.path, empty.start_line, empty.text) == ("fathom.toml", 1, "")
    assert [found.symbol.name for found in engine.files.outline("auth/session.py")] == [
        "SessionStore",
        "refresh_token",
        "issue",
    ]


def test_files_that_are_not_indexed_cannot_be_shown(engine: Engine) -> None:
    engine.index()
    for path in ("../project/auth/session.py", "/etc/hosts", "auth", ""):
        with pytest.raises(SourceError, match="no such file in the index"):
            engine.files.lines(path)
    with pytest.raises(SourceError, match="no such folder in the index"):
        engine.files.entries("nowhere")
    for start, end in ((0, 1), (5, 4), (9_999, 0)):
        with pytest.raises(UsageError, match="has no lines"):
            engine.files.lines("auth/session.py", start, end)


def test_the_number_of_changes_grows_with_the_index(engine: Engine) -> None:
    assert engine.generation == 0
    assert engine.index().generation == engine.generation > 0


def test_a_hit_says_that_its_file_has_changed(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
    age(project)  # a new time stamp alone is no change
    put(project, {"auth/session.py": "def refresh_token_later():\n    return 1\n"})
    (project / "auth/routes.py").unlink()
    with Engine.open(str(project), settings=Settings(search=SearchSettings(refresh="never"))) as engine:
        hits = engine.search("refresh_token").hits
    assert {hit.chunk.path for hit in hits if hit.stale} == {"auth/session.py", "auth/routes.py"}
    assert {hit.chunk.path for hit in hits if not hit.stale} >= {"tests/test_session.py"}
