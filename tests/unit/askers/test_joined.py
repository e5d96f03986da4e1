"""Several projects asked at once: whose answer comes where, what a page holds, and what is said of those that fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.askers.parts import WrittenPart, edges, found, paged, symbols

from codefathom.askers.joined import JoinedProjects, left_out_notes, placed
from codefathom.askers.joined_answers import JoinedTexts
from codefathom.askers.kept import KeptProject
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.question.asker import result_of
from codefathom.question.question import Kind, Question
from codefathom.search.graph.impact import ChangedSymbol, Impact
from codefathom.search.graph.project_map import MapPart, MapParts, MapSymbol
from codefathom.search.verdict import Verdict
from codefathom.types import Filter, IndexedFile, Rest, RunProgress, Skipped, SomeFiles

AWAY = SourceError("the disk is away", hint="plug it in")
PYTHON = Filter("language", "eq", "python")
NOT_HERE = UsageError("there is no 'a.py' here")


def joined(unopened: Mapping[str, FathomError] | None = None, **answers: Any) -> JoinedProjects:
    """Return projects `a`, `b` … by what each answers to any kind of question that is asked of it."""
    parts = {name: WrittenPart(f"/{name}", **_of_kinds(answer)) for name, answer in answers.items()}
    return JoinedProjects(parts, unopened, here=None)


def _of_kinds(answer: Any) -> dict[str, Any]:
    return (
        answer if isinstance(answer, dict) else dict.fromkeys(("search", "symbols", "related", "map", "files"), answer)
    )


def asked(projects: JoinedProjects) -> dict[str, list[Question]]:
    return {name: part.questions for name, part in projects.projects.items() if isinstance(part, WrittenPart)}


# ---- searches


def test_hits_of_all_come_best_first_with_the_name_of_their_project() -> None:
    projects = joined(a=found(("x.py", 0.9), ("y.py", 0.3)), b=found(("z.py", 0.8), confidence=0.9))
    result = result_of(projects, Question("q", limit=2))
    assert [hit.chunk.path for hit in result.hits] == ["a/x.py", "b/z.py"]
    assert (result.rest, result.offset, result.generation) == (Rest(1), 0, 10)
    each = projects.of_each(Question("q", limit=2))
    assert [(item.project_id, each.path_of(item)) for item in each.hits] == [("a", "/a/x.py"), ("b", "/b/z.py")]
    shown = each.in_place(each.hits[1])
    assert (shown.chunk.path, shown.chunk.id, shown.score) == ("/b/z.py", "b:id of z.py", each.hits[1].hit.score)
    assert set(each.results) == {"a", "b"}
    assert each.roots == {"a": "/a", "b": "/b"}


def test_each_project_gives_all_that_a_page_may_need() -> None:
    list_of_a = found(*((f"{n}.py", 0.9 - n / 100) for n in range(8)))
    projects = joined(a=paged(list_of_a), b=paged(found(("z.py", 0.01), confidence=0.9)))
    page = projects.search("q", limit=2, offset=3)
    assert {name: (one[0].limit, one[0].offset) for name, one in asked(projects).items()} == {"a": (5, 0), "b": (5, 0)}
    assert [item.hit.chunk.path for item in page.hits] == ["3.py", "4.py"]
    assert (page.offset, bool(page.rest)) == (3, True)
    assert result_of(projects, Question("q", limit=2, offset=3)).offset == 3


def test_the_list_of_a_single_project_is_not_made_anew_for_a_page() -> None:
    only = joined(a=paged(found(*((f"{n}.py", 0.9) for n in range(8)))))
    assert [item.hit.chunk.path for item in only.search("q", limit=2, offset=3).hits] == ["3.py", "4.py"]
    assert [(question.limit, question.offset) for question in asked(only)["a"]] == [(2, 3)]
    marked = joined(a=paged(found(*((f"{n}.py", 0.9) for n in range(8)))), b=found())
    assert len(marked.search("@a/src/ q", limit=2, offset=3).hits) == 2
    assert [(question.text, question.limit, question.offset) for question in asked(marked)["a"]] == [("@src/ q", 2, 3)]
    assert asked(marked)["b"] == []


def test_what_is_not_said_is_what_the_settings_of_the_projects_say() -> None:
    projects = joined(a=found(*((f"{n}.py", 0.9 - n / 1000) for n in range(50))), b=found(("z.py", 0.5)))
    usual = WrittenPart.settings.search.limit
    assert len(projects.search("q").hits) == usual
    assert asked(projects)["a"] == [Question("q", limit=None)]


def test_all_that_a_search_says_reaches_each_project() -> None:
    projects = joined(a=found(), b=found())
    projects.search(
        "q", limit=4, level="symbol", mode="lexical", where=PYTHON, min_score=0.25, files=["b/src", "b/x.py"]
    )
    own = Question("q", level="symbol", mode="lexical", where=PYTHON, min_score=0.25, limit=4, files=("src", "x.py"))
    assert asked(projects) == {"a": [], "b": [own]}


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (100_001, 0), (1, -1), (1, 10_000_001), (1, 100_000)])
def test_a_page_that_no_list_has_is_refused(limit: int, offset: int) -> None:
    projects = joined(a=found(), b=found())
    with pytest.raises(UsageError, match=r"^(limit|offset) cannot be"):
        projects.search("q", limit=limit, offset=offset)
    assert asked(projects) == {"a": [], "b": []}


def test_a_project_that_fails_stops_no_other_and_is_named() -> None:
    projects = joined({"c": AWAY}, a=found(("x.py", 0.9)), b=SourceError("b is broken"))
    result = result_of(projects, Question("q"))
    assert [hit.chunk.path for hit in result.hits] == ["a/x.py"]
    assert [note.kind for note in result.problems] == ["project_failed", "project_failed"]
    assert [note.values["project"] for note in result.problems] == ["c", "b"]
    assert "plug it in" in str(result.problems[0])
    assert list(projects.search("q").failed) == ["c", "b"]


def test_where_all_fail_the_first_error_is_raised() -> None:
    with pytest.raises(SourceError, match="b is broken"):
        joined({"c": AWAY}, b=SourceError("b is broken")).search("q")
    with pytest.raises(SourceError, match="the disk is away"):
        joined({"c": AWAY}).search("q")


def test_a_project_whose_first_index_is_being_made_is_not_waited_for() -> None:
    projects = joined(a=found(("x.py", 0.9)), b=found(("z.py", 0.8)))
    projects.projects["b"].first_run = RunProgress(3, 4)  # type: ignore[misc]
    result = result_of(projects, Question("q"))
    assert [hit.chunk.path for hit in result.hits] == ["a/x.py"]
    assert (result.problems[0].kind, str(result.problems[0].values["share"])) == ("being_indexed", ", 75 %")
    assert asked(projects)["b"] == []
    projects.projects["a"].first_run = RunProgress(0, 4)  # type: ignore[misc]
    assert len(result_of(projects, Question("q")).hits) == 2  # where it is so of all of them, all are asked


def test_the_verdict_is_that_of_the_best_result() -> None:
    weak, sure = found(confidence=0.1, weak=True, unanswerable=True), found(confidence=0.8)
    assert joined(a=weak, b=sure).search("q").verdict == Verdict(0.8, weak=False, unanswerable=False)
    assert joined(a=weak, b=weak).search("q").verdict == Verdict(0.1, weak=True, unanswerable=True)


def test_what_was_left_out_of_the_paths_stands_beside_the_hits() -> None:
    left_out = [Skipped(f"/many/{n}", "too many") for n in range(7)]
    projects = JoinedProjects({"a": WrittenPart("/a", search=found())}, left_out=left_out)
    assert projects.search("q").left_out == tuple(left_out) == projects.left_out
    notes = left_out_notes(left_out)
    assert [str(note.values["path"]) for note in notes[:5]] == [f"/many/{n}" for n in range(5)]
    assert notes[0].values["reason"] == "too many"
    assert [(note.kind, note.values["count"]) for note in notes[5:]] == [("more_left_out", 2)]
    assert [note.kind for note in left_out_notes(left_out[:5])] == ["left_out"] * 5
    assert left_out_notes(()) == ()


def test_notes_of_a_project_have_its_name_where_there_are_several() -> None:
    told = found(("x.py", 0.9), problems=("no vectors",), stale=True)
    (note,) = result_of(joined(a=told, b=found()), Question("q")).problems
    assert (note.kind, note.values) == ("in_project", {"project": "a", "note": "no vectors"})
    alone = result_of(joined(a=told), Question("q"))
    assert (alone.problems, alone.stale) == (("no vectors",), True)
    beside = result_of(joined({"c": AWAY}, a=told), Question("q"))
    assert [note.kind for note in beside.problems] == ["project_failed", "in_project"]
    nothing = found(confidence=0.01, weak=True, unanswerable=True)
    result = result_of(joined(a=nothing, b=found(confidence=0.3)), Question("q"))
    assert (result.weak, result.unanswerable, result.confidence) == (False, False, 0.3)
    assert result_of(joined(a=nothing, b=nothing), Question("q")).unanswerable


def test_a_text_of_a_path_is_that_of_its_project_or_of_the_first_for_documents() -> None:
    class Texts:
        def __init__(self, name: str) -> None:
            self.text = lambda path: f"{name} has {path}"
            self.on_disk = lambda path: f"{name} has {path} now"
            self.name_of = lambda path, start, end: f"{name} {path} {start} {end}"

    texts = JoinedTexts({"a": Texts("A"), "b": Texts("B")}, ["note.md"])
    assert texts.text("b/src/x.py") == "B has src/x.py"
    assert texts.on_disk("b/src/x.py") == "B has src/x.py now"
    assert texts.name_of("b/src/x.py", 2, 3) == "B src/x.py 2 3"
    assert texts.text("note.md") == "A has note.md"
    assert (texts.text("c/x.py"), texts.on_disk("c/x.py"), texts.name_of("c/x.py", 1, 2)) == ("", None, "")
    assert texts.part("b/src/x.py")[1] == "src/x.py"
    with pytest.raises(UsageError) as refused:
        texts.part("c/x.py")
    assert (str(refused.value), refused.value.hint) == (
        "'c/x.py' is not inside any of the projects",
        "write the project before the path: a/c/x.py",
    )


# ---- symbols


def test_symbols_come_in_the_order_of_the_projects_each_with_its_page() -> None:
    projects = joined(a=symbols("f", "g", n_all=9), b=symbols("h", n_all=4), c=NOT_HERE)
    each = projects.symbols("f", path="src", kind="function", limit=2, offset=3)
    assert [(name, item.symbol.name) for name, item in each.symbols] == [("a", "f"), ("a", "g"), ("b", "h")]
    assert asked(projects)["a"] == [Question("f", "symbols", path="src", symbol_kind="function", limit=2, offset=3)]
    assert (each.n_rows, each.n_symbols, list(each.failed)) == (2, {"a": 9, "b": 4}, ["c"])
    assert each.rest == Rest((9 - 3 - 2) + (4 - 3 - 1))
    assert [(name, item.symbol.name) for name, item in each.first(1)] == [("a", "f"), ("b", "h")]
    assert len(each.first(2)) == 3
    assert each.first(0) == []


def test_of_several_projects_the_symbols_are_one_list() -> None:
    page = result_of(joined(a=symbols("f", n_all=9), b=symbols("h", n_all=4)), Question("f", "symbols"))
    assert ([item.path for item in page.symbols], page.n_symbols) == (["a/f.py", "b/h.py"], 13)
    behind = joined(a=symbols(n_all=2), b=symbols(n_all=0)).symbols("f", offset=5)
    assert (behind.n_rows, behind.rest) == (0, Rest(0))


# ---- connections


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("b/src/x.py", {"b": "src/x.py"}),
        ("@b/src/x.py", {"b": "src/x.py"}),
        ("/b/src/x.py", {"b": "src/x.py"}),
        ("b/src/../x.py", {"b": "x.py"}),
        ("src/x.py", {"a": "src/x.py", "b": "src/x.py"}),
        ("@@b/f", {"a": "@@b/f", "b": "@@b/f"}),
        ("@@f", {"a": "@@f", "b": "@@f"}),
        ("b", {"a": "b", "b": "b"}),
    ],
)
def test_a_place_is_asked_about_where_it_is(target: str, expected: dict[str, str]) -> None:
    projects = joined(a=edges("p.py"), b=edges("q.py"))
    each = projects.related(target, depth=2, limit=5, offset=1)
    own = {name: [Question(text, "related", depth=2, limit=5, offset=1)] for name, text in expected.items()}
    assert asked(projects) == {"a": [], "b": [], **own}
    assert list(each.results) == list(expected)
    assert each.failed == {}


def test_connections_are_counted_over_all_projects() -> None:
    projects = joined(
        a=edges("p.py", "q.py", "r.py", rest=Rest(4)), b=edges("s.py", rest=Rest(1, is_exact=False)), c=NOT_HERE
    )
    each = projects.related("@@f")
    assert asked(projects)["a"] == [Question("@@f", "related", depth=1, limit=200, offset=0)]
    assert (each.n_rows, each.rest, list(each.failed)) == (3, Rest(5, is_exact=False), ["c"])
    assert (each.n_in(1), each.n_in(2), each.n_in(9)) == (2, 3, 4)
    first = each.first(2)
    assert [edge.path for edge in first["a"].edges] == ["p.py", "q.py"]
    assert (first["a"].rest, first["b"].rest) == (Rest(5), Rest(1, is_exact=False))
    assert joined(a=edges("p.py", rest=Rest(2))).related("@@f").rest == Rest(2)


def test_the_connections_of_all_are_one_list_with_pages() -> None:
    a, b = edges("p.py", "q.py"), edges("r.py", "s.py", completeness="by scope", rest=Rest(3))
    projects = joined(a=a, b=b)
    page = result_of(projects, Question("@@f", "related", limit=2, offset=1))
    assert [edge.path for edge in page.edges] == ["a/q.py", "b/r.py"]
    assert (page.offset, page.rest, page.n_unresolved) == (1, Rest(4), 4)
    assert page.completeness == "by names by scope"
    assert asked(projects)["b"] == [Question("@@f", "related", limit=3, offset=0)]
    whole = result_of(joined(a=a, b=replace(b, rest=Rest(0))), Question("@@f", "related"))
    assert (len(whole.edges), whole.rest, whole.offset) == (4, Rest(0), 0)
    with pytest.raises(UsageError, match="limit cannot be 0"):
        result_of(joined(a=a), Question("@@f", "related", limit=0))


# ---- maps


def parts_of(*paths: str, confidence: float | None = None) -> MapParts:
    judged = None if confidence is None else Verdict(confidence, weak=False, unanswerable=False)
    symbol = MapSymbol("function", "f", 3, "def f()")
    rows = [MapPart(path, "python", rank, one) for rank, path in enumerate(paths, start=1) for one in (None, symbol)]
    return MapParts(tuple(rows), 10, judged)


def test_a_map_shows_the_projects_in_turns() -> None:
    projects = joined({"d": AWAY}, a=parts_of("x.py", "y.py"), b=parts_of("z.py"), c=NOT_HERE)
    each = projects.map("q", files=["b/z.py"], folders=["src"], max_tokens=500, offset=0)
    assert [file.path for file in each.map.files] == ["a/x.py", "a/y.py", "b/z.py"]
    assert (each.map.n_files, each.map.query, list(each.failed)) == (20, "q", ["d"])
    common = Question("q", "map", folders=("src",), limit=500, max_tokens=500, as_parts=True)
    assert asked(projects) == {
        "a": [common],
        "b": [replace(common, files=("z.py",))],
        "c": [common],
    }
    assert result_of(projects, Question("q", "map")).files == each.map.files


def test_a_page_of_a_map_begins_behind_the_one_before() -> None:
    projects = joined(a=parts_of("x.py", "y.py"), b=parts_of("z.py"))
    assert [file.path for file in projects.map("q", offset=4).map.files] == ["a/y.py"]
    parts, failed = projects.map_parts("q", files=["a/x.py"], folders=["src"])
    assert ([part.path for part in parts.parts][:3], failed) == (["a/x.py", "b/z.py", "a/x.py"], {})
    assert asked(projects)["a"][-1] == Question("q", "map", files=("x.py",), folders=("src",), as_parts=True)
    assert asked(projects)["b"][-1] == Question("q", "map", folders=("src",), as_parts=True)
    assert result_of(projects, Question("q", "map", as_parts=True)) == projects.map_parts("q")[0]


def test_a_file_in_work_that_its_project_does_not_have_is_an_error() -> None:
    projects = joined(a=parts_of("x.py"), b=NOT_HERE)
    with pytest.raises(UsageError, match=r"there is no .a\.py. here"):
        projects.map("q", files=["b/a.py"])
    assert projects.map("q", files=["a/x.py"]).failed == {}


# ---- a change, files


def test_a_change_is_about_one_project() -> None:
    impact = Impact((ChangedSymbol("x.py", "f", "function", "changed", 1),), (), 0, (), "by names", n_changes=1)
    only = joined(a={"impact": impact})
    assert result_of(only, Question("", "impact")).changes[0].path == "a/x.py"
    with pytest.raises(UsageError) as refused:
        result_of(joined({"c": AWAY}, a={"impact": impact}, b={}), Question("", "impact"))
    assert (str(refused.value), refused.value.hint) == (
        "a diff is about one project",
        "name one of these in projects: a, b, c",
    )
    with pytest.raises(SourceError, match="the disk is away"):
        result_of(joined({"c": AWAY}), Question("", "impact"))


def test_the_files_of_all_are_one_list() -> None:
    projects = joined(
        a=SomeFiles((IndexedFile("x.py", "python", 5, 1),)), b=SomeFiles((IndexedFile("y.py", "python", 6, 2),)), c=AWAY
    )
    listed = result_of(projects, Question("", "files")).files
    assert listed == (IndexedFile("a/x.py", "python", 5, 1), IndexedFile("b/y.py", "python", 6, 2))


@pytest.mark.parametrize("kind", ["ask", "context"])
def test_without_any_project_an_answer_in_words_is_its_error(kind: Kind) -> None:
    with pytest.raises(SourceError, match="the disk is away"):
        result_of(joined({"c": AWAY}), Question("q", kind))


def test_a_file_that_somebody_pins_lies_in_a_project_that_is_asked() -> None:
    projects = joined(a=found(), b=found())
    for path in ("c/x.py", "a", "a/", "x.py"):
        with pytest.raises(SourceError) as refused:
            result_of(projects, Question("q", "ask", pinned=(path,)))
        assert str(refused.value) == f"{path!r} is not inside any of the projects"
        assert refused.value.hint == f"write the project before the path: a/{path}"


# ---- the projects


def test_what_a_caller_leaves_out_is_the_usual() -> None:
    projects = joined(a=symbols("f"), b=symbols("g"))
    projects.symbols()
    assert asked(projects)["a"] == [Question("", "symbols", limit=50)]
    mapped = joined(a=parts_of("x.py"), b=parts_of("y.py"))
    assert mapped.map() == mapped.map("", files=(), folders=(), max_tokens=4_000, offset=0)
    assert mapped.map_parts() == mapped.map_parts("", files=(), folders=())
    usual = Question("", "map", limit=4_000, max_tokens=4_000, as_parts=True)
    assert set(asked(mapped)["a"]) == {usual, Question("", "map", as_parts=True)}


def test_a_file_of_a_project_that_is_not_open_raises_its_error() -> None:
    projects = joined({"c": AWAY}, a=found())
    with pytest.raises(SourceError, match="the disk is away"):
        projects.search("q", files=["c/x.py"])
    with pytest.raises(UsageError, match="a diff is about one project"):
        result_of(projects, Question("", "impact"))


def test_a_project_that_cannot_be_closed_keeps_no_other_open() -> None:
    class Stuck(WrittenPart):
        def close(self) -> None:
            raise AWAY

    other = WrittenPart("/b")
    JoinedProjects({"a": Stuck("/a"), "b": other}).close()
    assert other.is_closed


def test_what_is_told_of_the_projects() -> None:
    a, b = WrittenPart("/a/"), WrittenPart("/b")
    two = JoinedProjects({"a": a, "b": KeptProject(b, ("/b/src",))})
    assert dict(two.projects) == {"a": a, "b": b}
    assert (two.only_name, two.engines, two.folder) == ("", {}, "")
    assert (JoinedProjects({"a": a}).only_name, JoinedProjects({"a": a}, {"c": AWAY}).only_name) == ("a", "")
    assert two.settings is a.settings
    assert two.shown_path("a", "x.py") == "a/x.py"
    assert placed("/a/", "x.py") == placed("/a", "x.py") == "/a/x.py"
    with pytest.raises(SourceError, match="the disk is away"):
        _ = JoinedProjects({}, {"c": AWAY}).settings
    with two as same:
        assert same is two
        assert not a.is_closed
    assert a.is_closed
    assert b.is_closed


def test_a_path_of_the_disk_belongs_to_a_folder_before_a_revision_of_it() -> None:
    folder, revision = WrittenPart("/a", search=found()), WrittenPart("/a", folder="", search=found())
    projects = JoinedProjects({"old": revision, "new": folder}, here=None)
    projects.search("q", files=["/a/x.py"])
    assert asked(projects) == {"old": [], "new": [Question("q", files=("/a/x.py",))]}
    alone = JoinedProjects({"old": revision}, here=None)
    alone.search("q", files=["/a/x.py"])
    assert asked(alone)["old"] == [Question("q", files=("/a/x.py",))]


def test_a_relative_path_begins_in_the_folder_that_is_said(tmp_path: Any) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("x = 1\n")
    part = WrittenPart(f"{tmp_path}/a", search=found())
    JoinedProjects({"p": part}, here=f"{tmp_path}/a").search("q", files=["x.py"])
    assert part.questions == [Question("q", files=(f"{tmp_path}/a/x.py",))]
    with pytest.raises(UsageError, match="is not inside any of these projects"):
        JoinedProjects({"p": part}, here=None).search("q", files=["x.py"])


def test_the_error_of_a_project_that_was_asked_counts_before_a_first_run() -> None:
    projects = joined(a=AWAY, b=found())
    projects.projects["b"].first_run = RunProgress(1, 2)  # type: ignore[misc]
    with pytest.raises(SourceError, match="the disk is away"):
        projects.search("q")
