"""Whatever is written on the command line or stands in a file, what comes is an answer or a plain error."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.waiting import LONG_S

from codefathom import AnswerRequest, Engine
from codefathom.cli import main
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.config.settings import declared_settings
from codefathom.errors import FathomError

FATHOM = [sys.executable, "-m", "codefathom"]
BYTES = os.fsdecode(b"\xff\xfe")
HUGE = "1" + "0" * 20
DEEP = 20_000


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small indexed project, and the working directory of these tests."""
    root = tmp_path_factory.mktemp("plain") / "project"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("import b\n\n\ndef retry(call):\n    return call()\n")
    (root / "b.py").write_text("from a import retry\n\nretry(print)\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("FATHOM_")]:
            patch.delenv(name)
        patch.setenv("FATHOM_CACHE_DIR", str(root.parent / "cache"))
        patch.setenv("FATHOM_CONFIG", os.devnull)
        for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            patch.setenv(name, str(root.parent / "home"))  # `install --yes` writes there
        patch.chdir(root)
        assert main(["index", "-q"]) == 0
        yield root


def run(*words: str) -> Ran:
    """Run one command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return Ran(code, out.getvalue(), err.getvalue())


def is_plain(ran: Ran) -> bool:
    return ran.code in (0, 1, 2) and "unexpected" not in ran.err and "Traceback" not in ran.err


NUMBERS = ("-1", "0", HUGE, "9" * 5_000, "1e400", "nan", "inf", "-inf", "", " ", "1_0", "１２", "0x10", "1.5", "--")
TAKE_NUMBERS = (
    "search -n {} retry", "search --min-score {} retry", "symbols -n {}", "related a.py --depth {}",
    "context --max-files {} retry", "context --max-tokens {} retry", "ask -n {} retry", "ask --filter-level {} retry",
    "ask --index-filter-workers {} retry", "index --dry-run --workers {}", "--rag --max-files {} retry",
    "--rag --rag-context-window-limit {} retry", "search --filter lines>{} retry",
)  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:20])
@pytest.mark.parametrize("line", TAKE_NUMBERS)
def test_any_number_gives_an_answer_or_says_which_may_be(project: Path, line: str, number: str) -> None:
    ran = run(*(word.replace("{}", number) for word in line.split(" ")))
    assert is_plain(ran), ran.err
    assert len(ran.err) < 5_000


@pytest.mark.parametrize("known", [item for item in declared_settings() if isinstance(item.default, int | float)],
                         ids=lambda known: known.key)  # fmt: skip
def test_any_number_that_a_setting_takes_can_be_worked_with(project: Path, known) -> None:
    numbers = {known.rule.low, known.rule.high, known.rule.high or 10**9, known.rule.low or 0} - {None}
    for number in (*sorted(numbers), 10**20, -1, "nan", "1e999"):
        given_words = ("--set", f"{known.key}={number}")
        for words in (("search", "retry"), ("context", "retry"), ("ask", "retry"), ("index", "--dry-run")):
            ran = run(*words, *given_words)
            assert is_plain(ran), (words, given_words, ran.err)
            if ran.code == 2 and f"{known.key}" in ran.err:  # refused while settings are read: by each command alike
                break


NOT_UTF_8 = (
    "search {}", "search --mode regex {}", "search --mode symbol {}", "search @{}", "search @@{}", "search lang:{}",
    "search --lang {} x", "search --kind {} x", "search --dir {} x", "search --filter path={} x", "search --set {}=1 x",
    "search --set search.limit={} x", "search --set source.ignore={} x", "search --set store.vectors={} x",
    "search --set embed.model=ollama:{} x", "search -C {} x", "symbols {}", "symbols --path {}", "symbols --kind {}",
    "related {}", "related @@{}", "context {}", "ask {}", "ask --pin {} x", "ask --doc {} x", "ask --doc {}/{} x",
    "ask --trace {}/{} x", "ask --url {} x", "ask --url http://{} x", "ask --set llm.model=openai:{} x",
    "config show --json --set answer.filter_hint={}", "export --as jsonl -o {}/{}", "import --as jsonl {}", "{}",
    "index --dry-run --ignore {}", "index --dry-run --required-exts {}", "serve --new-token {}", "--rag {}",
    "--query-index {}", "help {}", "index --dry-run --set index.dir={}", "search --set context.tokenizer_path={} x",
)  # fmt: skip


@pytest.mark.parametrize("odd", [BYTES, "\ud800", "a\0b", "", " ", "x" * 50_000, "/" * 5_000, "../" * 2_000],
                         ids=["bytes", "surrogate", "nul", "empty", "blank", "long", "slashes", "up"])  # fmt: skip
@pytest.mark.parametrize("line", NOT_UTF_8)
def test_odd_words_give_an_answer_or_a_plain_error(project: Path, line: str, odd: str) -> None:
    ran = run(*(word.replace("{}", odd) for word in line.split()))
    assert is_plain(ran), ran.err[:2_000]
    assert len(ran.err) < 10_000


@pytest.mark.parametrize(
    "words",
    [
        ("search", "--filter", "(" * 5_000, "x"),
        ("search", "--filter", "(" * 5_000 + "is_test" + ")" * 5_000, "x"),
        ("search", "--filter", "[" * DEEP, "x"),
        ("search", "--filter", "not " * DEEP + "is_test", "x"),
        ("search", "--filter", '{"operator": "NOT", "filters": [' * 5_000, "x"),
        ("search", "--filter", '{"operator": "NOT", "filters": [' * 900 + "]}" * 900, "x"),
        ("search", "--filter", '{"field": "path", "operator": "eq", "value": ' + "[" * 900 + "]" * 900 + "}", "x"),
        ("search", "--filter", "lines > " + "9" * 5_000, "x"),
        ("search", "--filter", '{"field": "lines", "operator": "gt", "value": ' + "9" * 5_000 + "}", "x"),
        ("search", "--filter", '{"field": "lines", "operator": "gt", "value": 1e999}', "x"),
        ("search", "--filter", '{"field": "lines", "operator": "gt", "value": NaN}', "x"),
        ("search", "--filter", '{"field": "lines", "operator": "gt", "value": ' + HUGE + "}", "x"),
        ("search", "--filter", '{"field": "path", "operator": "eq", "value": "\\ud800"}', "x"),
        ("search", "--mode", "regex", "(" * 5_000 + ")" * 5_000),
        ("search", "--mode", "regex", "(?:" * 5_000 + "a" + ")*" * 5_000),
        ("search", "--mode", "regex", "a{99999999999}"),
        ("search", "--mode", "regex", "(?P<a>(?P=a))"),
        ("search", "--filter", "path ~ " + '"' + "(" * 5_000 + '"', "x"),
        ("search", "[" * DEEP),
        ("search", "lang:py " * 2_000),
        ("search", "@a " * 5_000),
        ("search", '"' * DEEP),
        ("ask", '{"query": ' * DEEP),
        ("ask", '{"query": "\\ud800"}'),
        ("ask", '{"query": {"query": 1}}'),
        ("--rag", "[" * DEEP),
        ("search", "--dir", "{" * 5_000, "x"),
        ("search", "--dir", "[" * 5_000, "x"),
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_nesting_and_numbers_inside_a_word_are_plain_errors(project: Path, words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert is_plain(ran), ran.err[:2_000]
    assert len(ran.err) < 10_000


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * DEEP,
        "[a" + ".a" * DEEP + "]",
        "[search]\nlimit" + ".a" * DEEP + " = 1",
        "x = " + "{a = " * 5_000,
        "[search]\nlimit = " + "9" * 5_000,
        "[search]\nlimit = 1979-05-27",
        "[search]\nlimit = nan",
        "[search]\nmin_similarity = inf",
        "[search]\nlimit = {a = 1}",
        "[[search]]\nlimit = 1",
        "search = 3",
        "\0",
        "a" * 3_000_000,
        '[search]\nlimit = "' + "a" * 900_000 + '"',
        '[source]\nignore = ["\\u0000"]',
        '[index]\ndir = "\\u0000"',
        '[source]\ndir = "\\u0000"',
        '[source]\nrequired_exts = ["' + "a" * 500_000 + '"]',
    ],
    ids=lambda text: text[:30],
)
def test_no_settings_file_is_more_than_a_plain_error(project: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text("def retry(): ...\n")
    (tmp_path / "fathom.toml").write_text(text)
    for words in (("search", "retry"), ("config", "show")):
        ran = run("-C", str(tmp_path), *words)
        assert is_plain(ran), ran.err[:2_000]
        assert len(ran.err) < 10_000


@pytest.mark.parametrize("command", ["backup", "restore", "import", "export --snapshot", "search retry --in"])
@pytest.mark.parametrize("path", ["/", "\0"], ids=["root", "null"])
def test_a_path_that_names_no_file_is_a_plain_error(project: Path, command: str, path: str) -> None:
    ran = run("-C", str(project), *command.split(), path)
    assert ran.code in (1, 2)
    assert "unexpected" not in ran.err
    assert "hint:" in ran.err


@pytest.mark.parametrize("kind", ["jsonl", "index-json"])
@pytest.mark.parametrize(
    "content",
    [
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b"\xff\xfe\x00\x01",
        b'{"relative_path": "a.py", "content": [{"source_code": "\xff"}]}',
        b'{"relative_path": "\\u0000", "content": []}',
        b'{"relative_path": "x\\ud800", "content": [{"source_code": "x"}]}',
        b'{"relative_path": "x", "content": [{"source_code": "\\ud800"}]}',
        b'{"relative_path": "", "content": [{"source_code": "x"}]}',
        b'{"relative_path": "a/", "content": [{"source_code": "x"}]}',
        b'{"relative_path": "a//b", "content": [{"source_code": "x"}]}',
        b'{"relative_path": "a", "content": {}}',
        b'{"relative_path": "a", "content": [{"source_code": ' + b"9" * 5_000 + b"}]}",
        b'{"relative_path": ["a"], "content": [{}]}',
        b'{"\\u0000": {"md5": "x"}}',
        b'{"x\\ud800": {"md5": "x"}}',
        b'{"a.py/b": {"md5": "x"}}',
        b'{"": {"md5": "x"}}',
        b'{"' + b"a/" * 50_000 + b'": {"md5": "x"}}',
        b"[1]",
        b"1",
        b"",
    ],
    ids=lambda content: repr(content[:50]),
)
def test_no_import_is_more_than_a_plain_error(project: Path, tmp_path: Path, kind: str, content: bytes) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.py").write_text("def retry(): ...\n")
    file = tmp_path / "export"
    file.write_bytes(content)
    for ran in (run("-C", str(own), "import", "--as", kind, str(file)), run("-C", str(own), "search", "retry")):
        assert is_plain(ran), ran.err[:2_000]


# ---- any words at all

ODD = ("", " ", "-", "--", "=", "@", "@@", "0", "-1", HUGE, "1e999", "nan", "a.py", "retry", "../..", "/", "~", "\0",
       BYTES, "\ud800", "\x1b[31m", "\n", "(", "[" * 300, "{", "{}", "[]", "null", "*", "?", "\\", '"', "'", "é用",
       "a" * 3_000, "search.limit=3", "x=y", "jsonl", "json", "lang:", ":", ",", "%s", "{0}", "not",
       "lines > 3")  # fmt: skip
_TEXTS = st.one_of(st.sampled_from(ODD), st.text(max_size=12))
_LEFT_OUT = {"--watch", "--interactive", "--url", "--full"}


def _words(command: Command) -> st.SearchStrategy[list[str]]:
    options = [option for option in (*command.options, *COMMON_OPTIONS) if not _LEFT_OUT & set(option.names)]

    def written(option: Option) -> st.SearchStrategy[list[str]]:
        names = st.sampled_from(option.names)
        if not option.metavar:
            return names.map(lambda name: [name])
        values = st.one_of(_TEXTS, st.sampled_from(option.choices)) if option.choices else _TEXTS
        return st.tuples(names, values).map(list)

    one = st.one_of(_TEXTS.map(lambda text: [text]), st.one_of([written(option) for option in options]))
    return st.lists(one, max_size=5).map(lambda parts: [command.name, *(word for part in parts for word in part)])


# What goes on for ever or speaks to other machines has tests of its own.
@pytest.mark.parametrize("command", [item for item in COMMANDS if item.name not in {"serve", "chat"}],
                         ids=lambda command: command.name)  # fmt: skip
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_words_give_an_answer_or_a_plain_error(project: Path, command: Command, data: st.DataObject) -> None:
    words = data.draw(_words(command))
    kept = Path(project.parent / "kept")
    if not kept.exists():
        shutil.copytree(project, kept)
    with contextlib.redirect_stderr(io.StringIO()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\0retry\n")))
        ran = run(*words, "-C", str(kept))
    assert is_plain(ran), (words, ran.err[:2_000])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS, other=_TEXTS, number=st.one_of(st.integers(), st.sampled_from((10**20, -(10**20), 0, -1))))
def test_a_program_gets_an_answer_or_an_error_of_ours(project: Path, text: str, other: str, number: int) -> None:
    with Engine.open(str(project)) as engine:
        for question in (
            lambda: engine.search(text, limit=number),
            lambda: engine.search(text, level=other, mode=other),
            lambda: engine.symbols(text, path=other, kind=other, limit=number),
            lambda: engine.related(text, depth=number),
            lambda: engine.context(text, max_files=number, max_tokens=number),
            lambda: engine.ask(AnswerRequest(text, pinned=(other,), documents={other: text})),
            lambda: list(engine.export(text)),
            lambda: engine.files.lines(text, number, number),
            lambda: engine.files.entries(text),
            lambda: engine.files.outline(text),
        ):
            with contextlib.suppress(FathomError):
                question()


@pytest.mark.parametrize(
    "path", ["\0", "", "a\0b", BYTES, "\ud800", "x" * 50_000, "/dev/null"], ids=lambda path: repr(path)[:20]
)
def test_a_program_opens_what_is_no_project(path: str) -> None:
    with pytest.raises(FathomError), Engine.open(path or "/nowhere") as engine:
        engine.search("x")


# ---- surroundings of the process

LINUX = pytest.mark.skipif(sys.platform == "win32", reason="shells of POSIX")


def shell(script: str, project: Path, **variables: str | None) -> subprocess.CompletedProcess[bytes]:
    given_variables = {"FATHOM": f"{sys.executable} -m codefathom", "HOME": str(project.parent), **variables}
    environment = {**os.environ, **{name: value for name, value in given_variables.items() if value is not None}}
    for name in (name for name, value in variables.items() if value is None):
        environment.pop(name, None)
    return subprocess.run(
        ["sh", "-c", script], cwd=project, env=environment, capture_output=True, check=False, timeout=LONG_S
    )


@LINUX
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("$FATHOM search retry >&-", 0),
        ("$FATHOM search retry 2>&-", 0),
        ("$FATHOM search retry <&-", 0),
        ("$FATHOM index --full >&- 2>&- <&-", 0),
        ("$FATHOM search -n x retry >&- 2>&-", 2),
        ("$FATHOM chat <&-", 0),
        ("$FATHOM ask --doc - retry <&-", 2),
        ("$FATHOM import --as jsonl - <&-", 0),
        ("printf '\\377\\000' | $FATHOM import --as jsonl -", 2),
        ("printf '\\377\\000' | $FATHOM import --as index-json -", 2),
        ("printf '\\377\\000' | $FATHOM ask --doc - retry", 2),
        ("printf '\\377\\000\\n' | $FATHOM chat", 0),
        ("$FATHOM search retry 2>&1 >/dev/full", 2),
        ("$FATHOM context retry 2>&1 >/dev/full", 2),
        ("$FATHOM export --as jsonl -o /dev/full", 2),
        ("$FATHOM ask --trace /dev/full retry", 2),
        ("$FATHOM help 2>&1 >/dev/full", 2),
        ("$FATHOM search -n x 2>/dev/full", 2),
        ("$FATHOM search retry 2>/dev/full", 0),
        ("$FATHOM index --full 2>/dev/full", 0),
        ("$FATHOM index --full >/dev/full 2>&1", 2),
        ("$FATHOM symbols --limit 1 2>/dev/full", 0),
        ("mkdir gone; cd gone; rmdir ../gone; $FATHOM search retry", 2),
        ("mkdir gone; cd gone; rmdir ../gone; $FATHOM search -C $OLDPWD --dir x retry", 2),
        ("mkdir gone; cd gone; rmdir ../gone; $FATHOM search -C $OLDPWD retry", 0),
        ("mkdir gone; cd gone; rmdir ../gone; $FATHOM version", 0),
        ("$FATHOM search -C /dev/null retry", 2),
        ("$FATHOM export --as jsonl -o ''", 2),
        ("$FATHOM ask --doc /dev/zero retry", 2),
        ("ulimit -n 12; $FATHOM index --full", 2),
    ],
)  # fmt: skip
def test_odd_surroundings_give_a_plain_error(project: Path, script: str, code: int) -> None:
    if "/dev/full" in script and not os.path.exists("/dev/full"):
        pytest.skip("this system has no full device")
    ran = shell(script, project)
    said = (ran.stdout + ran.stderr).decode(errors="replace")
    assert "unexpected" not in said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert ran.returncode == code, said


@LINUX
@pytest.mark.parametrize("home", [None, "", "relative", "/dev/null"])
def test_without_a_home_nothing_is_written_elsewhere(project: Path, tmp_path: Path, home: str | None) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.py").write_text("def retry(): ...\n")
    none = dict.fromkeys(("FATHOM_CACHE_DIR", "FATHOM_CONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"))
    ran = shell("$FATHOM search retry", own, HOME=home, **none)
    assert b"unexpected" not in ran.stderr
    assert {path.name for path in own.iterdir()} <= {"a.py", ".fathom"}


@LINUX
@pytest.mark.parametrize("variables", [{"XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "."}, {"HOME": "."}, {"HOME": ""}])
def test_no_machine_code_of_the_project_is_loaded(project: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    from semble_grammars import cache, loader

    manifest = loader._platform_manifest()
    library = f"{manifest['platform']}/{manifest['languages']['python']['file']}"
    own = tmp_path / "own"
    for folder in ("semble", ".cache/semble", "~/.cache/semble"):
        planted = own / folder / "grammars" / cache.__version__ / library
        planted.parent.mkdir(parents=True)
        planted.write_bytes(b"no library: it cannot be loaded")
    (own / "a.py").write_text("def retry(): ...\n")
    none = dict.fromkeys(("SEMBLE_GRAMMARS_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"))
    ran = shell("$FATHOM symbols retry", own, **{**none, "FATHOM_CONFIG": os.devnull, **variables})
    assert b"a.py:1" in ran.stdout, ran.stderr


@LINUX
def test_a_folder_whose_name_is_not_utf_8_is_named(project: Path, tmp_path: Path) -> None:
    try:
        (tmp_path / BYTES).mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    (tmp_path / BYTES / "a.py").write_text("def retry(): ...\n")
    for words in ("search retry", "index", "status", "config show"):
        ran = shell(f"$FATHOM {words}", tmp_path / BYTES)
        assert b"unexpected" not in ran.stderr
        assert b"surrogates" not in ran.stderr
    # In this process, which has loaded the grammars of all languages for other tests already: that takes ten seconds.
    checked = run("doctor", "-C", str(tmp_path / BYTES))
    checked.out.encode()
    assert is_plain(checked), checked.err
