"""Words on the command line → options, or an error that says what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from codefathom.cli import aliases
from codefathom.cli.aliases import LEGACY_OPTIONS
from codefathom.cli.arguments import parse
from codefathom.cli.commands.ask_command import unwrapped
from codefathom.cli.display.render import as_toml
from codefathom.cli.help import explanation
from codefathom.cli.options import (
    AskOptions,
    Common,
    ContextOptions,
    DoctorOptions,
    ExportOptions,
    ImportOptions,
    IndexOptions,
    PlainOptions,
    RelatedOptions,
    SearchOptions,
    StatusOptions,
    SymbolsOptions,
)
from codefathom.config.configuration import load_settings
from codefathom.config.settings import declared_settings
from codefathom.errors import UsageError

NOTHING = Common()


def overriding(**settings: object) -> Common:
    return Common(overrides={key.replace("__", "."): value for key, value in settings.items()})


def read(words: list[str]) -> tuple[str, Any, bool]:
    """Return what is read, without the names under which errors tell of settings."""
    command, options, wants_help = parse(words)
    return command, options._replace(common=options.common._replace(said_as={})), wants_help


@pytest.mark.parametrize(
    ("line", "command", "options"),
    [
        ("index", "index", IndexOptions(NOTHING)),
        ("index --full --watch", "index", IndexOptions(NOTHING, full=True, watch=True)),
        ("index --ignore *.md", "index", IndexOptions(overriding(source__ignore="*.md"))),
        ("search how are rules applied", "search", SearchOptions(NOTHING, "how are rules applied")),
        ("search a -n 3 b", "search", SearchOptions(overriding(search__limit="3"), "a b")),
        ("search --limit=3 a", "search", SearchOptions(overriding(search__limit="3"), "a")),
        ("search -- -x --y", "search", SearchOptions(NOTHING, "-x --y")),
        ("search -repo:web price", "search", SearchOptions(NOTHING, "price -repo:web")),
        ("search -path:vendor/ price -n 3", "search",
         SearchOptions(overriding(search__limit="3"), "price -path:vendor/")),
        ("search a --lang go --lang=c,rs", "search", SearchOptions(NOTHING, "a", {"language_filter": ("go", "c,rs")})),
        ("search a --min-score 0.5 --explain", "search",
         SearchOptions(NOTHING, "a", {"min_score": 0.5}, explain=True)),
        ("search a --level file --mode regex", "search",
         SearchOptions(overriding(search__level="file", search__mode="regex"), "a")),
        ("search a --set search.rrf_k=5=6", "search", SearchOptions(overriding(search__rrf_k="5=6"), "a")),
        ("-q search a -v --json", "search", SearchOptions(Common(json=True, quiet=True, verbose=True), "a")),
        ("-C /x search a", "search", SearchOptions(Common(source_dir="/x"), "a")),
        ("--source-dir=/x search a", "search", SearchOptions(Common(source_dir="/x"), "a")),
        ("symbols", "symbols", SymbolsOptions(NOTHING)),
        ("symbols parse --kind class -n 3", "symbols", SymbolsOptions(NOTHING, "parse", kind="class", limit=3)),
        ("related src/a.py --depth 2", "related", RelatedOptions(NOTHING, "src/a.py", depth=2)),
        ("context q --format xml --max-tokens 9", "context",
         ContextOptions(overriding(context__window="9"), "q", format="xml")),
        ("ask a b --contexts-only", "ask", AskOptions(NOTHING, "a b", contexts_only=True)),
        ("ask a --pin x --doc - --url http://a/b --url http://c", "ask",
         AskOptions(NOTHING, "a", pin=("x",), doc=("-",), url=("http://a/b", "http://c"))),
        ("ask a --tokenizer-path t.json --index-filter-workers 3", "ask",
         AskOptions(overriding(context__tokenizer_path="t.json", judge__workers="3"), "a")),
        ("ask a --agent --explain --trace t.json", "ask",
         AskOptions(NOTHING, "a", agent=True, explain=True, trace="t.json")),
        ("chat", "chat", AskOptions(NOTHING)),
        ("chat --pin x --doc y --url http://a/b", "chat",
         AskOptions(NOTHING, pin=("x",), doc=("y",), url=("http://a/b",))),
        ("chat --filter-level 2 --agent --explain --trace t", "chat",
         AskOptions(overriding(select__filter_level="2"), agent=True, explain=True, trace="t")),
        ("status --skipped", "status", StatusOptions(NOTHING, skipped=True)),
        ("doctor", "doctor", DoctorOptions(NOTHING)),
        ("doctor --providers", "doctor", DoctorOptions(NOTHING, providers=True)),
        ("config", "config", PlainOptions(NOTHING)),
        ("config show", "config", PlainOptions(NOTHING)),
        ("export --as jsonl -o x", "export", ExportOptions(NOTHING, "jsonl", output="x")),
        ("import --as jsonl x", "import", ImportOptions(NOTHING, "jsonl", file="x")),
        ("import --as jsonl -", "import", ImportOptions(NOTHING, "jsonl")),
        ("version", "version", PlainOptions(NOTHING)),
        ("--version --json", "version", PlainOptions(Common(json=True))),
    ],
)  # fmt: skip
def test_a_line_is_read_as(line: str, command: str, options: Any) -> None:
    assert read(line.split()) == (command, options, False)


def test_an_option_is_known_by_its_longest_name() -> None:
    options = parse(["search", "a", "-n", "3", "--mode", "regex", "--set", "context.window=9"]).options
    assert options.common.said_as == {"search.limit": "--limit", "search.mode": "--mode"}


@pytest.mark.parametrize(
    ("line", "topic"),
    [("", ""), ("--help", ""), ("-h", ""), ("help", ""), ("help search", "search"), ("search --help", "search"),
     ("--help search", "search"), ("search x -h", "search"), ("--rag -h", ""), ("help help", ""),
     ("help compat", "compat"), ("--help compat", "compat")],
)  # fmt: skip
def test_help_is_asked_for(line: str, topic: str) -> None:
    assert parse(line.split()) == (topic, None, True)


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("serch x", "'serch' is not a command", "did you mean search?"),
        ("help serch", "'serch' is not a command", "did you mean search?"),
        ("zzz", "'zzz' is not a command", 'fathom search "zzz"'),
        ("compat", "'compat' is not a command", "fathom help compat"),
        ("--nope", "fathom has no option --nope", "fathom --help"),
        ("--nope=1 --json", "fathom has no option --nope", "fathom --help"),
        ("-repo:web price", "fathom has no option -repo:web", "write fathom search -repo:web WORDS"),
        ("search -rep:web x", "fathom search has no option -rep:web", "write -- before"),
        ("--json", "there is no command in '--json'", "fathom --help"),
        ("search", "fathom search needs QUERY", "fathom search --help"),
        ("search --json", "fathom search needs QUERY", "fathom search --help"),
        ("related", "fathom related needs PATH|@@SYMBOL", "fathom related --help"),
        ("backup", "fathom backup needs FILE", "fathom backup --help"),
        ("search --nope x", "fathom search has no option --nope", "write -- before"),
        ("search --mod vector x", "fathom search has no option --mod", "did you mean --mode?"),
        ("search --explian=1 x", "fathom search has no option --explian", "did you mean --explain?"),
        ("ask --max-files 3 x", "fathom ask has no option --max-files", "did you mean --max-sources?"),
        ("context --max-file 3 x", "fathom context has no option --max-file", "did you mean --max-files?"),
        ("search --max-files 3 x", "fathom search has no option --max-files", "write -- before"),
        ("context --full-text-ratio=0.9 x", "no option --full-text-ratio", "write --set context.full_text_ratio=VALUE"),
        ("search --duckdb-query-top-k 9 x", "no option --duckdb-query-top-k", "write --set search.candidates=VALUE"),
        ("search -n", "argument -n/--limit: expected one argument", "fathom search --help"),
        ("search --level line x", "--level cannot be 'line'", "choose one of file, symbol, function, chunk"),
        ("search --min-score high x", "--min-score cannot be 'high'", "give a number"),
        ("search --set limit x", "--set 'limit' has no value", "--set key=value"),
        ("related a b", "fathom related does not take 'b'", "fathom related --help"),
        ("related a --depth x", "--depth cannot be 'x'", "give a number"),
        ("chat how", "fathom chat does not take 'how'", "fathom chat --help"),
        ("index ..", "fathom index does not take '..'", "write -C .. to use the project in this folder"),
        ("chat --contexts-only", "fathom chat has no option --contexts-only", "fathom chat --help"),
        ("config edit", "action cannot be 'edit'", "choose one of show"),
        ("export --as xml", "--as cannot be 'xml'", "choose one of index-json, jsonl"),
        ("--max-files 3 q", "the options name no task", "fathom --help"),
        ("--rag", "--rag needs a question", "fathom --rag"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line.split())
    assert said in str(caught.value)
    assert hint in caught.value.hint


# The six example lines of the first document with the program's name changed; the one for shells becomes a pipe.
@pytest.mark.parametrize(
    ("words", "command", "options"),
    [
        (["--build-index", "--source-dir", "./p"], "index", IndexOptions(Common("./p"))),
        (["--rag", "--source-dir", "./p", "如何实现用户认证功能？"], "ask",
         AskOptions(Common("./p"), "如何实现用户认证功能？", rag=True)),
        (["--rag", "--filter-level", "2", "--max-files", "5", "找到所有数据库相关的文件"], "ask",
         AskOptions(overriding(select__filter_level="2", context__max_files="5", rerank__top_n="5"),
                    "找到所有数据库相关的文件", rag=True)),
        (["--query-index", "@@authenticate", "--source-dir", "./p"], "search",
         SearchOptions(Common("./p"), "@@authenticate")),
        (["--rag", "生成一个数据库连接的shell脚本", "--source-dir", "./p"], "ask",
         AskOptions(Common("./p"), "生成一个数据库连接的shell脚本", rag=True)),
        (["--rag", "--contexts-only", "--source-dir", "./p", '{"query":"列出数据库相关配置","only_contexts":true}'],
         "ask",
         AskOptions(Common("./p"), "列出数据库相关配置", contexts_only=True, rag=True)),
    ],
)  # fmt: skip
def test_the_first_documents_examples(words: list[str], command: str, options: Any) -> None:
    assert read(words) == (command, options, False)


@pytest.mark.parametrize(
    ("prompt", "query", "contexts_only"),
    [
        ('{"query": "a b", "only_contexts": true}', "a b", True),
        ('{"query": "a b", "only_contexts": false}', "a b", False),
        ('{"query": "a b"}', "a b", False),
        ('{"query": 5}', '{"query": 5}', False),
        ('{"question": "a"}', '{"question": "a"}', False),
        ("{broken", "{broken", False),
        ("123", "123", False),
        ('["query"]', '["query"]', False),
    ],
)
def test_a_question_may_be_json(prompt: str, query: str, contexts_only: bool) -> None:
    of_rag = parse(["--rag", prompt]).options
    of_ask = unwrapped(parse(["ask", prompt]).options)
    assert (of_rag.query, of_rag.contexts_only) == (of_ask.query, of_ask.contexts_only) == (query, contexts_only)


def test_rag_without_a_model_is_a_context() -> None:
    asked = parse(["--rag", "a", "--max-files", "3"]).options
    assert aliases.as_context(asked) == ContextOptions(asked.common, "a", notice=aliases.NO_MODEL)
    only = parse(["--rag", "--contexts-only", "a"]).options
    assert aliases.as_context(only) == ContextOptions(NOTHING, "a", format="json")


@pytest.mark.parametrize(
    ("flags", "key", "value"),
    [
        ("--filter-level 2", "select.filter_level", 2),
        ("--max-files 3", "context.max_files", 3),
        ("--relevance-threshold 7", "judge.relevance_threshold", 7),
        ("--enable-hybrid-index", "search.mode", "hybrid"),
        ("--no-enable-hybrid-index", "search.mode", "lexical"),
        ("--duckdb-vector-dim 64", "embed.dimensions", 64),
        ("--duckdb-query-top-k 20", "search.candidates", 20),
        ("--duckdb-query-similarity 0.5", "search.min_similarity", 0.5),
        ("--rag-doc-filter-relevance 4", "judge.doc_relevance", 4),
        ("--index-filter-workers 2", "judge.workers", 2),
        ("--rag-context-window-limit 999", "context.window", 999),
        ("--full-text-ratio 0.5", "context.full_text_ratio", 0.5),
        ("--segment-ratio 0.2", "context.segment_ratio", 0.2),
        ("--disable-auto-window", "context.disable_auto_window", True),
        ("--disable-segment-reorder", "context.disable_segment_reorder", True),
        ("--anti-quota-limit-ms 9", "limits.min_interval_ms", 9),
        ("--tokenizer-path t.json", "context.tokenizer_path", "t.json"),
        ("--required-exts .rs,.py", "source.required_exts", (".rs", ".py")),
    ],
)
def test_every_flag_of_the_first_document_is_a_setting(flags: str, key: str, value: object) -> None:
    options = parse(["--rag", "question", *flags.split()]).options
    assert options.query == "question"
    settings = load_settings("/nowhere", overrides=options.common.overrides)
    section, _, name = key.partition(".")
    assert getattr(getattr(settings, section), name) == value
    also = {"rerank.top_n": "argument"} if key == "context.max_files" else {}
    assert settings.origins == {key: "argument", **also}


def test_the_files_of_an_answer_are_limited_too() -> None:
    limited = parse(["--rag", "question", "--max-files", "3"]).options.common
    assert limited.overrides == {"context.max_files": "3", "rerank.top_n": "3"}
    chosen = parse(["--rag", "question", "--max-files", "3", "--set", "rerank.top_n=5"]).options.common
    assert chosen.overrides["rerank.top_n"] == "5"


def test_help_tells_the_default_that_rag_has() -> None:
    level = next(option for option in LEGACY_OPTIONS if option.names == ("--filter-level",))
    assert explanation(level).endswith("(default: -1)")


@pytest.mark.parametrize(
    ("name", "key", "on", "off"),
    [
        ("--enable-hybrid-index", "search.mode", "hybrid", "lexical"),
        ("--disable-auto-window", "context.disable_auto_window", True, False),
        ("--disable-segment-reorder", "context.disable_segment_reorder", True, False),
    ],
)
def test_the_last_of_a_switch_and_its_off_form_counts(name: str, key: str, on: object, off: object) -> None:
    off_form = f"--no-{name[2:]}"
    for words, value in (([name], on), ([off_form], off), ([name, off_form], off), ([off_form, name], on)):
        assert parse(["--rag", "where", *words]).options.common.overrides == {key: value}
        assert parse(["config", "show", *words]).options.common.overrides == {key: value}


def test_every_switch_of_earlier_scripts_has_an_off_form() -> None:
    switches = {option.names[-1] for option in LEGACY_OPTIONS if not option.metavar and not option.turns_off}
    assert {f"--no-{name[2:]}" for name in switches} == {
        option.names[0] for option in LEGACY_OPTIONS if option.turns_off
    }
    assert not parse(["--rag", "--contexts-only", "--no-contexts-only", "where"]).options.contexts_only
    assert parse(["--rag", "--build-index", "--no-build-index", "where"]).command == "ask"
    with pytest.raises(UsageError, match="name no task"):
        parse(["--rag", "--no-rag", "where"])


def test_the_settings_that_are_shown_can_be_set_as_they_are_shown() -> None:
    for setting in declared_settings():
        value = setting.default
        if isinstance(value, tuple) and not setting.rule.choices and not setting.rule.form:
            value = ("a, b", 'c "d"')
        options = parse(["config", "--set", f"{setting.key} = {as_toml(value)}"]).options
        overrides = options.common.overrides
        settings = load_settings("/nowhere", overrides=overrides)
        section, _, name = setting.key.partition(".")
        assert getattr(getattr(settings, section), name) == value, setting.key


def test_config_takes_the_options_of_earlier_scripts() -> None:
    words = ["config", "show", "--duckdb-vector-dim", "1024", "--required-exts", ".rs,.py", "--max-files", "3"]
    assert parse(words).options.common.overrides == {
        "embed.dimensions": "1024",
        "source.required_exts": ".rs,.py",
        "context.max_files": "3",
    }
