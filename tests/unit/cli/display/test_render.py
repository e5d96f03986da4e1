"""Results as text, as JSON and as contexts."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codefathom.answer.context_formats import context_text
from codefathom.cli.display.output import Output, Style, complain
from codefathom.cli.display.progress import ProgressLine, describe
from codefathom.cli.display.render import (
    checks_text,
    related_text,
    report_text,
    search_text,
    setting_line,
    status_text,
    symbols_text,
)
from codefathom.facts.reasons import NAMED, Note
from codefathom.shapes import checks_shape, plain_shape, search_shape, symbols_shape, to_json
from codefathom.types import (
    Check,
    Chunk,
    Context,
    ContextFile,
    Extent,
    Failure,
    ForModel,
    FoundSymbol,
    Hit,
    IndexReport,
    Progress,
    Related,
    RelatedResult,
    SearchResult,
    Skipped,
    SomeSymbols,
    Status,
    Symbol,
)

PLAIN = Style()
COLOUR = Style(colour=True)
TEXT = "def retry(call):\n    for n in range(3):\n        if call():\n            return True\n    return False\n"
CHUNK = Chunk("1", "net/http/retry.py", "python", "function", "retry", ("retry",), 8, 12, TEXT)
HIT = Hit(CHUNK, 0.914, {"lexical": 0.71234}, (Note(NAMED, {"names": ("retry",)}),), 9, "retry", kind="function")
RESULT = SearchResult("retry", (HIT,), "chunk", "hybrid", 0.81239, 7)
LONG = replace(HIT, chunk=replace(CHUNK, start_line=1, end_line=40, text="".join(f"line {n}\n" for n in range(1, 41))))


def shown(hit: Hit, style: Style = PLAIN, *, whole: bool = False) -> str:
    result = replace(RESULT, hits=(hit,))
    return search_text(result, style, whole=whole, explain=lambda hit: [f"{name} high" for name in hit.signals])


def test_a_hit_shows_place_kind_name_score_reason_signals_and_lines() -> None:
    assert shown(HIT) == (
        "net/http/retry.py:8-12  function retry  0.91\n"
        "  named retry\n"
        "    lexical high\n"
        "   8  def retry(call):\n"
        "   9      for n in range(3):\n"
        "  10          if call():\n"
        "  11              return True\n"
        "  12      return False\n"
    )


@pytest.mark.parametrize(
    ("best", "first", "last"),
    [(1, 1, 6), (3, 1, 6), (4, 2, 7), (20, 18, 23), (38, 35, 40), (40, 35, 40), (0, 1, 6)],
)
def test_an_excerpt_lies_around_the_best_line(best: int, first: int, last: int) -> None:
    lines = [line for line in shown(replace(LONG, line=best)).splitlines() if "  line " in line]
    assert [int(line.split()[0]) for line in lines] == list(range(first, last + 1))
    assert all(line.split()[0] == line.split()[-1] for line in lines)


def test_the_whole_hit_is_shown_on_demand() -> None:
    assert shown(LONG, whole=True).count("  line ") == 40


def test_hits_are_parted_by_an_empty_line() -> None:
    both = search_text(replace(RESULT, hits=(HIT, HIT)), PLAIN, whole=False, explain=lambda _: ())
    assert both.count("\n\nnet/http") == 1
    assert search_text(replace(RESULT, hits=()), PLAIN, whole=False, explain=lambda _: ()) == ""


def test_colour_only_adds_escapes() -> None:
    coloured = shown(HIT, COLOUR)
    assert "\x1b[1;36mnet/http/retry.py:8-12\x1b[0m" in coloured
    for code in ("\x1b[1;36m", "\x1b[2m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == shown(HIT)


def test_a_hostile_file_cannot_steer_the_terminal() -> None:
    hostile = replace(HIT, chunk=replace(CHUNK, path="a\x1b]0;x\x07.py", text="\x1b[2Jboo\r\n\x9b1m\tx\n"))
    text = shown(hostile)
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "boo" in text
    assert "\tx" in text


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("colour", [True, False])
def test_the_way_out_lets_only_our_colours_pass(colour: bool) -> None:
    stream = Terminal() if colour else StringIO()
    output = Output(stream, {"TERM": "xterm"})
    output.write(f"{COLOUR.strong('place')} \x1b[31mred\x1b[0;1m \x1b]0;t\x07\n")
    place = "\x1b[1;36mplace\x1b[0m" if colour else "␛[1;36mplace␛[0m"
    assert stream.getvalue() == f"{place} ␛[31mred␛[0;1m ␛]0;t␇\n"


def test_a_line_for_the_moment_goes_before_other_text_comes() -> None:
    stream = Terminal()
    output = Output(stream, {"TERM": "xterm"})
    output.pass_by("50 %\x1b[2J\nfathom: forged")
    output.write("text\n")
    output.write("more\n")
    assert stream.getvalue() == "\r\x1b[K50 %␛[2J␊fathom: forged\r\x1b[Ktext\nmore\n"


def test_what_is_wrong_is_said_in_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no 'a\nfathom: b'", "go\nthere\x1b", "one\ntwo\x9b\n")
    assert capsys.readouterr().err == "one\ntwo<U+009B>\nfathom: no 'a␊fathom: b'\n  hint: go␊there␛\n"


def test_symbols_are_one_line_each() -> None:
    symbol = Symbol("method", "add", "Cart.add", 3, 9, 5, "add(article)")
    assert symbols_text([FoundSymbol("web/cart.ts", "typescript", symbol)], PLAIN) == (
        "web/cart.ts:5  method Cart.add  add(article)\n"
    )


def test_related_edges_are_grouped_by_kind() -> None:
    edges = (
        Related("a.py", "imports", 1, "b"),
        Related("c.py", "imported by", 2, "a", "main"),
        Related("d.py", "imports", 3, "e", depth=2),
    )
    assert related_text(RelatedResult("a.py", edges, ()), PLAIN) == (
        "imports:\n  a.py:1  b\n  d.py:3  e  (step 2)\nimported by:\n  c.py:2  a in main\n"
    )


REPORT = IndexReport(
    added=("a.py", "b.py"),
    changed=("c.py",),
    removed=("d.py",),
    n_unchanged=4,
    n_touched=1,
    failures=(Failure("e.py", "unreadable"),),
    skipped=(Skipped("f.bin", "binary"),),
    n_chunks=30,
    n_bytes=12_345,
    seconds=0.44,
    generation=3,
)


def test_a_report_sums_up() -> None:
    assert report_text(REPORT, whole=False) == (
        "failed: e.py: unreadable\n"
        "30 chunks in the index after 0.4 s: 2 added, 1 changed, 1 removed, 5 unchanged, 1 skipped, 1 failed\n"
    )


def test_a_dry_run_lists_what_would_be_done() -> None:
    text = report_text(replace(REPORT, dry_run=True, failures=(), paused="too many failed"), whole=False)
    assert text == (
        "+ a.py\n+ b.py\n~ c.py\n- d.py\n"
        "would index 12 kB, about 30 new chunks: 2 added, 1 changed, 1 removed, 5 unchanged, 1 skipped\n"
        "skipped: 1 binary; `fathom status --skipped` lists them; more may be skipped for their content\n"
        "paused: too many failed\n"
    )


@pytest.mark.parametrize(
    ("dry_run", "sent", "line"),
    [
        (True, ForModel(1, 500), "would send to the language model, at most: 1 file to parse, about 500 tokens\n"),
        (False, ForModel(2, 900), "sent to the language model: 2 files to parse, about 900 tokens\n"),
        (
            True,
            ForModel(3, 9_000, 12),
            "would send to the language model, at most: 3 files to parse and the beginnings of 12 files to describe "
            "their purpose, about 9000 tokens\n",
        ),
        (
            False,
            ForModel(0, 80, 1),
            "sent to the language model: the beginnings of 1 file to describe their purpose, about 80 tokens\n",
        ),
    ],
)
def test_a_report_says_what_goes_to_a_model(dry_run: bool, sent: ForModel, line: str) -> None:
    assert report_text(replace(REPORT, dry_run=dry_run, for_model=sent), whole=False).endswith(line)
    assert "language model" not in report_text(replace(REPORT, dry_run=dry_run), whole=True)


def failed(*reasons: str) -> tuple[Failure, ...]:
    return tuple(Failure(f"{n}.py", reason) for n, reason in enumerate(reasons))


@pytest.mark.parametrize(
    ("reasons", "lines"),
    [
        (("away",) * 3, ["0.py: away", "1.py: away", "2.py: away"]),
        (("away",) * 4, ["4 files, the first is 0.py: away", "… (-v lists all)"]),
        (("a", "b", "b", "b", "b"), ["0.py: a", "4 files, the first is 1.py: b", "… (-v lists all)"]),
        (
            ("b", "a", "b", "b", "\x1bb", "b"),
            ["4 files, the first is 0.py: b", "1.py: a", "4.py: ␛b", "… (-v lists all)"],
        ),
        (tuple(map(str, range(20))), [f"{n}.py: {n}" for n in range(20)]),
        (tuple(map(str, range(22))), [*(f"{n}.py: {n}" for n in range(20)), "… and 2 more", "… (-v lists all)"]),
    ],
)
def test_many_failures_are_cut_unless_all_are_wanted(reasons: tuple[str, ...], lines: list[str]) -> None:
    many = replace(REPORT, failures=failed(*reasons))
    said = "".join(f"failed: {line}\n" for line in lines)
    assert report_text(many, whole=False).startswith(f"{said}30 chunks")
    assert report_text(many, whole=True).count("failed: ") == len(reasons)
    in_status = "".join(f"failed      {line}\n" for line in lines if "-v" not in line)
    assert status_text(replace(STATUS, failures=many.failures), PLAIN, skipped=False).endswith(in_status)


def test_a_long_list_is_cut_unless_all_is_wanted() -> None:
    many = replace(REPORT, dry_run=True, added=tuple(f"{n}.py" for n in range(25)))
    assert "+ 19.py\n+ … and 5 more (-v lists all)\n" in report_text(many, whole=False)
    assert "+ 24.py\n" in report_text(many, whole=True)


def test_a_report_of_nothing_says_so() -> None:
    nothing = IndexReport((), (), (), 0, 0, (), (), 0, 0, 12.0, 1)
    assert report_text(nothing, whole=True) == "0 chunks in the index after 12 s: nothing to do\n"


STATUS = Status(
    root="/p",
    index_dir="/p/.fathom",
    generation=2,
    n_documents=3,
    n_chunks=9,
    n_symbols=7,
    n_bytes=5_400_000,
    languages={"go": 1, "python": 2},
    kinds={"function": 9},
    model="bundled/1",
    n_without_vector=0,
    indexed_at=1.0,
    pending=0,
    views_current=True,
    skipped=(Skipped("a.bin", "binary"),),
    failures=(Failure("b.py", "unreadable"),),
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "up to date  yes\n"),
        ({"generation": 0, "pending": 1}, "up to date  no index yet"),
        ({"generation": 0}, "up to date  nothing is indexed: no file here can be\n"),
        ({"pending": 4}, "up to date  4 files changed since\n"),
        ({"views_current": False}, "up to date  the search views are older"),
        ({"paused": "40 of 50 failed"}, "paused      40 of 50 failed\n"),
        ({"languages": {}}, "languages   none\n"),
        ({}, "languages   python 2, go 1\n"),
        ({}, "index       /p/.fathom (5.4 MB, generation 2)\n"),
        ({}, "failed      b.py: unreadable\n"),
    ],
)
def test_status_says(change: dict[str, object], said: str) -> None:
    assert said in status_text(replace(STATUS, **change), PLAIN, skipped=False)


def test_skipped_files_are_listed_with_the_reason() -> None:
    assert status_text(STATUS, PLAIN, skipped=True) == "a.bin  binary\n"


CHECKS = (
    Check("index", ok=True, told="fine", remedy="unused"),
    Check("model", ok=False, told="gone", remedy="reinstall"),
)


def test_checks_say_what_to_do_about_failures_only() -> None:
    assert checks_text(CHECKS, PLAIN) == "ok    index fine\nFAIL  model gone\n      reinstall\n"
    long = [Check("x" * 40, True, "y"), Check("views of it", True, "z"), *CHECKS[:1]]
    assert checks_text(long, PLAIN) == f"ok    {'x' * 40} y\nok    views of it z\nok    index       fine\n"
    assert checks_shape(CHECKS)["ok"] is False
    assert checks_shape(CHECKS[:1])["ok"] is True


@pytest.mark.parametrize(
    ("value", "written"),
    [(3, "3"), (0.5, "0.5"), (True, "true"), ("a\\b\"c", '"a\\\\b\\"c"'), ((".rs", "b"), '[".rs", "b"]'), ((), "[]"),
     ("a\nb\x1b\U000e0041", '"a\\nb\\u001b\\U000e0041"')],
)  # fmt: skip
def test_a_setting_is_shown_as_it_would_be_written(value: object, written: str) -> None:
    assert setting_line("a.b", value, "default", PLAIN, "") == f"a.b = {written}  # default\n"
    assert setting_line("a.b", value, "default", PLAIN, "Why.").startswith("# Why.\na.b = ")


# ---- JSON


def test_search_json_has_the_promised_keys() -> None:
    shape = json.loads(to_json(search_shape(replace(RESULT, problems=("no vectors",), stale=True))))
    assert {key: shape[key] for key in ("query", "confidence", "degraded", "stale", "generation")} == {
        "query": "retry",
        "confidence": 0.8124,
        "degraded": ["no vectors"],
        "stale": True,
        "generation": 7,
    }
    assert shape["hits"] == [
        {
            "path": "net/http/retry.py",
            "start_line": 8,
            "end_line": 12,
            "line": 9,
            "column": 0,
            "kind": "function",
            "name": "retry",
            "language": "python",
            "score": 0.914,
            "signals": {"lexical": 0.7123},
            "content": TEXT,
            "content_line": 8,
            "content_column": 1,
            "module": "net",
            "sub_module": "http",
            "reason": "named retry",
            "reason_parts": [{"kind": "named", "values": {"names": ["retry"]}}],
            "is_test": False,
            "stale": False,
            "place": "",
            "commit": None,
            "place_parts": [],
        }
    ]


@pytest.mark.parametrize(
    ("path", "module", "sub_module"), [("a.py", "", ""), ("x/a.py", "x", ""), ("x/y/z/a.py", "x", "y")]
)
def test_module_and_sub_module_are_the_first_two_folders(path: str, module: str, sub_module: str) -> None:
    hit = search_shape(replace(RESULT, hits=(replace(HIT, chunk=replace(CHUNK, path=path)),)))["hits"][0]
    assert (hit["module"], hit["sub_module"]) == (module, sub_module)


def test_the_kind_is_that_of_the_symbol_that_is_shown() -> None:
    several = replace(CHUNK, kind="class", symbol="", names=("Order", "Order.price"))
    for kind, name, wanted in (("class", "Order", "class Order"), ("method", "Order.price", "method Order.price")):
        assert f"  {wanted}  " in shown(replace(HIT, chunk=several, kind=kind, name=name)).splitlines()[0]
    assert "  block  " in shown(replace(HIT, kind="block", name="")).splitlines()[0]


def test_other_results_are_json_by_their_fields() -> None:
    symbol = Symbol("class", "A", "A", 1, 2, 1)
    assert (
        symbols_shape("a", SomeSymbols((FoundSymbol("a.py", "python", symbol),), 1))["symbols"][0]["qualified_name"]
        == "A"
    )
    said = {"damages": "damage", "first_run": "incomplete", "unloaded": "missing_grammars"}
    for value in (REPORT, STATUS):
        names = {said.get(name, name) for name in value.__slots__}
        assert set(json.loads(to_json(plain_shape(value)))) == names


# ---- contexts

FILES = (
    ContextFile("src/a.py", "x = '<&>'\n", 0.9, 'says "x"'),
    ContextFile("README.md", "# A\n```\ncode\n```", 0.5, "near", ((1, 4), (9, 12))),
)
CONTEXT = Context("x", FILES, 20)


def test_files_format() -> None:
    assert context_text(CONTEXT, "files") == "##File: src/a.py\nx = '<&>'\n\n##File: README.md\n# A\n```\ncode\n```\n\n"


def test_autocoder_format_is_the_text_and_two_line_ends() -> None:
    files = "".join(f"##File: {file.path}\n{file.text}\n\n" for file in CONTEXT.files)
    assert context_text(CONTEXT, "autocoder") == files


def test_autocoder_adds_no_line_end_to_a_text() -> None:
    bare = Context("q", (ContextFile("a.py", "x\r\ny", 1.0, ""),), 0)
    assert context_text(bare, "autocoder") == "##File: a.py\nx\r\ny\n\n"


def test_markdown_format_fences_what_holds_a_fence() -> None:
    assert context_text(CONTEXT, "markdown") == (
        "## src/a.py\n\n```py\nx = '<&>'\n```\n\n"
        "## README.md (lines 1-4, 9-12)\n\n````md\n# A\n```\ncode\n```\n````\n\n"
    )


IN_XML = st.text(st.characters(exclude_categories=("Cs",), exclude_characters=[*map(chr, range(9)), *"\v\f\ufffe\uffff",
                                                                             *map(chr, range(14, 32))]))  # fmt: skip


@given(st.lists(st.tuples(IN_XML, IN_XML, IN_XML), max_size=3))
@example([("", "\r", "")])
def test_xml_format_can_be_read_again(parts: list[tuple[str, str, str]]) -> None:
    files = tuple(ContextFile(path, text, 1.0, reason) for path, text, reason in parts)
    documents = list(ElementTree.fromstring(context_text(Context("q", files, 0), "xml")))
    for document, (path, text, reason) in zip(documents, parts, strict=True):
        lines = [part.replace("\r\n", "\n") for part in (path, text, reason)]
        assert [document.get("path"), (document.text or "").strip("\n"), document.get("reason")] == [
            lines[0],
            lines[1].strip("\n"),
            lines[2],
        ]


# ---- progress


def test_a_line_of_progress() -> None:
    assert describe(Progress("index", 50, 200, "a.py", 400), 2.0) == (
        "indexing  [#####---------------] 50/200 files  400 chunks  25/s  6.0 s left"
    )
    assert describe(Progress("scan", 0, 0), 0.0) == "scanning"
    assert describe(Progress("paused", 5, 10, message="too many failed"), 0.0).endswith("5/10 files  too many failed")


def progress_of(times: list[float], *, terminal: bool) -> tuple[str, ProgressLine]:
    stream, clock = Terminal() if terminal else StringIO(), iter([0.0, *times, times[-1] + 1])
    output = Output(stream, {"TERM": "xterm"})
    line = ProgressLine(output, clock=lambda: next(clock))
    for n, _ in enumerate(times):
        line(Progress("index", n + 1, len(times), n_chunks=n))
    output.clear()
    return stream.getvalue(), line


def test_a_terminal_gets_one_line_that_changes_and_goes_away() -> None:
    text, _ = progress_of([0.05, 0.2, 0.25, 0.4], terminal=True)
    assert text.count("\r\x1b[K") == 4  # three shown, one cleared; those that follow at once are not
    assert text.endswith("\r\x1b[K")
    assert "\n" not in text


def test_a_line_is_never_wider_than_the_terminal() -> None:
    stream, times = Terminal(), iter([0.0, 9.0])
    progress = ProgressLine(Output(stream, {"TERM": "xterm"}), clock=lambda: next(times))
    progress(Progress("index", 1, 2, message="x" * 200))
    assert len(stream.getvalue().removeprefix("\r\x1b[K")) == 79  # where the width is not known


def test_elsewhere_there_is_a_plain_line_every_few_seconds() -> None:
    text, _ = progress_of([0.1, 4.0, 6.0, 8.0, 12.0], terminal=False)
    assert [line.split()[2] for line in text.splitlines()] == ["3/5", "5/5"]
    assert "\x1b" not in text


def test_the_phase_that_is_shown_is_the_one_that_runs() -> None:
    for stream, count in ((Terminal(), 3), (StringIO(), 1)):  # a pipe gets the phase that takes long
        clock = iter([0.0, 0.01, 0.02, 0.03, 0.04])
        line = ProgressLine(Output(stream, {"TERM": "xterm"}), clock=lambda clock=clock: next(clock))
        line(Progress("index", 0, 2))
        line(Progress("write", 2, 2))
        line(Progress("embed", 0, 40, message="0 of 40 chunks"))
        text = stream.getvalue()
        assert sum(phase in text for phase in ("indexing", "writing", "embedding")) == count
        assert "embedding  [--------------------] 0/40 chunks" in text
        assert "0 of 40" not in text


def test_the_extent_of_the_work_is_told_before_it_where_wanted() -> None:
    for tells_extent in (True, False):
        stream = StringIO()
        line = ProgressLine(Output(stream, {}), clock=lambda: 0.0)
        line.tells_extent = tells_extent
        line(Progress("index", 0, 30, extent=Extent(1_200, 30, 2)))
        expected = "1200 files in the project: 30 to index, 2 to remove from the index\n"
        assert stream.getvalue() == (expected if tells_extent else "")


def test_the_summary_tells_what_was_indexed() -> None:
    _, line = progress_of([0.5, 1.0], terminal=False)
    assert line.summary() == "indexed 2 files, 1 chunks in 2.0 s"
    line.forget()
    assert line.summary() == ""
    assert ProgressLine(Output(StringIO(), {})).summary() == ""
