from __future__ import annotations

import pytest

from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import RankingQuery, analyse
from codefathom.search.ranking.signals import NAMES, SIGNALS, Candidate, signals
from codefathom.stores.catalog.records import DefinitionPlace
from codefathom.types import Chunk


def candidate(key: int, path: str, *names: str, text: str = "", lexical: float = 0.0, vector: float = 0.0) -> Candidate:
    chunk = Chunk(f"id{key}", path, "python", "function", "", names, 1, 5, text)
    return Candidate(key, chunk, lexical, vector, n_lines=5)


def of(
    question: str | RankingQuery, *candidates: Candidate, fused: dict[int, float] | None = None
) -> list[dict[str, float]]:
    query = analyse(parse_query(question)) if isinstance(question, str) else question
    if not query.rarity:
        query = query._replace(rarity=dict.fromkeys(query.terms, 1.0))
    return [dict(zip(NAMES, row, strict=True)) for row in signals(query, candidates, fused or {})]


def test_every_signal_has_a_meaning_and_a_number() -> None:
    [row] = of("token", candidate(1, "a.py"))
    assert tuple(row) == NAMES == tuple(SIGNALS)


def test_words_and_meaning_are_measured_against_the_best() -> None:
    one, two = of("q", candidate(1, "a.py", lexical=4.0, vector=0.2), candidate(2, "b.py", lexical=2.0, vector=0.4))
    assert (one["lexical"], two["lexical"]) == (1.0, 0.5)
    assert (one["vector"], two["vector"]) == (0.5, 1.0)
    assert (one["vector_rank"], two["vector_rank"]) == (0.5, 1.0)


@pytest.mark.parametrize(("name", "value"), [("parse_config", 0.8), ("Parse_Config", 0.5), ("other", 0.0)])
def test_a_definition_as_written_counts_more_than_in_another_case(name: str, value: float) -> None:
    [row] = of(RankingQuery(("parse",), symbols=("parse_config",)), candidate(1, "a.py", name))
    assert row["definition"] == value


@pytest.mark.parametrize("symbol", ["Store.get", "Store::get", "Store#get"])
def test_the_last_part_of_a_name_is_what_is_defined(symbol: str) -> None:
    [row] = of(RankingQuery((), symbols=(symbol,)), candidate(1, "a.py", "Store.get"))
    assert row["definition"] == 0.8


def test_a_file_named_like_the_definition_counts_more() -> None:
    [row] = of(RankingQuery((), symbols=("Router",)), candidate(1, "router.py", "Router"))
    assert row["definition"] == 1.0


def test_what_a_name_means_first_counts_more_than_its_namesakes() -> None:
    head, constructor, comment = (
        Candidate(key, Chunk(f"id{key}", "list.java", "java", "class", "", names, start, start + 9, ""))
        for key, start, names in ((1, 11, ("Queue", "Queue.size")), (2, 21, ("Queue.Queue",)), (3, 1, ("Queue",)))
    )
    query = RankingQuery(
        (), symbols=("Queue",), heads={"list.java": (DefinitionPlace("list.java", "class", "Queue", 12),)}
    )
    assert [row["definition"] for row in of(query, head, constructor, comment)] == pytest.approx([0.8, 0.24, 0.24])
    # The name of a class below a long comment: the chunk with its line has no definition that begins in it.
    bare = Candidate(1, Chunk("id1", "list.java", "java", "class", "", (), 11, 20, ""))
    assert [row["definition"] for row in of(query, bare, comment)] == pytest.approx([0.8, 0.24])


@pytest.mark.parametrize(("n_files", "is_only", "value"), [(4, False, 0.8), (16, False, 0.2), (16, True, 0.8)])
def test_a_name_that_many_files_define_says_little(n_files: int, is_only: bool, value: float) -> None:
    query = RankingQuery((), symbols=("fit",), n_defining={"fit": n_files}, is_only_symbol=is_only)
    [row] = of(query, candidate(1, "model.py", "Model.fit"))
    assert row["definition"] == pytest.approx(value)


def test_a_heading_defines_nothing() -> None:
    heading = Chunk("id", "README.md", "markdown", "section", "Queue", ("Queue",), 1, 5, "# Queue")
    [row] = of(RankingQuery((), symbols=("Queue",)), Candidate(1, heading))
    assert row["definition"] == 0.0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/extract/mod.rs", "pub use core::extract::{\n    Json, FromRequest,\n};"),
        ("src/index.ts", "export {\n  Json,\n  FromRequest,\n} from './core'"),
        ("src/index.ts", "export type { FromRequest } from './core'"),
        ("src/index.ts", "import x from './x'\n\n  export { FromRequest } from './core'"),
        ("src/web/__init__.py", "from core import (\n    Json,\n    FromRequest,\n)"),
    ],
)
def test_what_a_project_gives_on_is_as_good_as_defined(path: str, text: str) -> None:
    query = RankingQuery((), symbols=("FromRequest",), foreign=("FromRequest",))
    [row] = of(query, candidate(1, path, text=text))
    assert row["definition"] == 0.8
    [defined_elsewhere] = of(RankingQuery((), symbols=("FromRequest",)), candidate(1, path, text=text))
    assert defined_elsewhere["definition"] == 0.0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/json.rs", "use core::extract::FromRequest;"),
        ("src/web/json.py", "from core import FromRequest"),
        ("src/index.ts", "export { Json }\nnew FromRequest()"),
        ("src/mod.rs", "pub use core::Json;\nimpl FromRequest for Json {}"),
    ],
)
def test_what_a_file_only_uses_is_not_given_on(path: str, text: str) -> None:
    [row] = of(RankingQuery((), symbols=("FromRequest",), foreign=("FromRequest",)), candidate(1, path, text=text))
    assert row["definition"] == 0.0


def test_a_symbol_alone_is_another_question_than_one_that_names_it() -> None:
    alone, named = (of(question, candidate(1, "a.py", "open_file"))[0] for question in ("open_file", "why open_file"))
    assert (alone["definition"], alone["symbol_only"]) == (0.8, 0.8)
    assert (named["definition"], named["symbol_only"]) == (0.8, 0.0)


def test_names_and_path_are_compared_both_ways() -> None:
    [row] = of("insert many orders", candidate(1, "batch/order_insert.py", "insert_orders_now"))
    assert row["names"] == pytest.approx(2 / 3)
    assert row["name_share"] == pytest.approx(2 / 3)
    assert row["stem_share"] == 1.0
    assert row["folder_share"] == 0.0


@pytest.mark.parametrize(
    ("path", "inside"),
    [("flat_hash_map.h", 1.0), ("log.c", 0.0), ("hash.c", 1.0), ("db.c", 0.0)],
)
def test_a_file_name_in_the_question_is_whole_words_of_it(path: str, inside: float) -> None:
    [row] = of("catalog of the flat hash map", candidate(1, path))
    assert row["stem_inside"] == inside


def test_a_document_named_in_the_question_is_not_the_code() -> None:
    code, text = candidate(1, "tools/shipping.rs"), candidate(2, "docs/shipping.md")
    assert [row["stem_inside"] for row in of("shipping label", code, text)] == [1.0, 0.0]
    assert [row["stem_inside"] for row in of("shipping documentation", code, text)] == [1.0, 1.0]


def test_words_of_the_text_count_in_any_form_and_for_the_whole_file() -> None:
    one, two = of("parsing tokens", candidate(1, "a.py", text="def parse(x)"), candidate(2, "a.py", text="Token = int"))
    assert (one["words"], two["words"]) == (0.5, 0.5)
    assert one["file_words"] == two["file_words"] == 1.0


def test_a_file_in_which_more_was_found_counts_more() -> None:
    rows = of("q", candidate(1, "a.py"), candidate(2, "a.py"), candidate(3, "b.py"), fused={1: 1.0, 2: 0.5, 3: 0.75})
    assert [row["file_share"] for row in rows] == [1.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("language", "symbol", "is_test"),
    [
        ("rust", "tests.reads_a_row", 1.0),
        ("rust", "tests", 1.0),
        ("rust", "Row.tests_it", 0.0),
        ("python", "tests", 0.0),
    ],
)
def test_tests_beside_the_code_are_tests_too(language: str, symbol: str, is_test: float) -> None:
    chunk = Chunk("id", "src/row.rs", language, "function", symbol, (), 1, 5, "")
    [row] = of("parse", Candidate(1, chunk))
    assert row["test"] == is_test


def test_tests_and_prose_count_in_full_when_asked_for() -> None:
    test, prose = candidate(1, "tests/a.py"), candidate(2, "README.md")
    assert [row["test"] for row in of("parse", test)] == [1.0]
    assert [row["test"] for row in of("tests of parse", test)] == [0.0]
    assert [row["prose"] for row in of("parse", prose)] == [1.0]
    assert [row["prose"] for row in of("installation guide", prose)] == [0.0]


def test_documentation_counts_nearly_in_full_where_its_heading_has_the_words_of_the_question() -> None:
    whole, half, none = (
        candidate(key, "guide.md", heading)
        for key, heading in enumerate(("Limits of retry with backoff", "Backoff, retry", "Install"))
    )
    rows = of("limits of retry backoff", whole, half, none)
    assert [round(row["prose"], 2) for row in rows] == [0.2, 0.84, 1.0]
    [code] = of("limits of retry backoff", candidate(1, "retry.py", "limits_of_retry_with_backoff"))
    assert code["prose"] == 0.0
    [of_two_words] = of("retry backoff", candidate(1, "guide.md", "Retry with backoff"))
    assert of_two_words["prose"] == 1.0


@pytest.mark.parametrize(
    ("code", "value"),
    [("walrus pier rope ferry", 1.0), ("walrus pier", 1.0), ("walrus", 0.5), ("", 0.0)],
)
def test_documentation_counts_more_where_no_code_has_half_of_its_words(code: str, value: float) -> None:
    note = candidate(1, "notes/meeting.md", text="the walrus of the pier moored the ferry by a rope")
    [of_note, _] = of("walrus pier rope ferry", note, candidate(2, "a.py", text=code))
    assert of_note["prose"] == value


def test_a_file_that_is_written_out_counts_by_how_clearly_it_is_meant() -> None:
    query = RankingQuery(("total",), files={"shop/pricing.py": 0.8, "shop/orders.py": 0.0})
    rows = of(query, *(candidate(key, f"shop/{name}.py") for key, name in enumerate(("pricing", "orders", "cart"))))
    assert [row["named_file"] for row in rows] == [0.8, 0.0, 0.0]


def test_an_issue_may_be_about_the_header() -> None:
    header, source, stub = candidate(1, "lib/url.h"), candidate(2, "lib/url.c"), candidate(3, "lib/url.pyi")
    rows = of(RankingQuery(("url",), minor_terms={"b": 1.0}), header, source, stub)
    assert [row["declaration"] for row in rows] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("question", "paths", "legacy"),
    [
        ("scan", ["src/legacy/scan.py"], [1.0]),
        ("legacy scan", ["src/legacy/scan.py"], [0.0]),
        ("scan", ["v1/scan.go", "v2/scan.go"], [1.0, 0.0]),
        ("v1 scan", ["v1/scan.go", "v2/scan.go"], [0.0, 0.0]),
        ("scan", ["api/v1/scan.py", "api/scan.py"], [1.0, 0.0]),
        ("scan", ["v2/scan.go", "scan.go"], [0.0, 0.0]),  # a Go module keeps its first version at the root
        ("scan", ["v1/scan.go", "v2/other.go"], [0.0, 0.0]),
    ],
)
def test_an_older_copy_counts_less_unless_it_is_asked_for(question: str, paths: list[str], legacy: list[float]) -> None:
    rows = of(question, *(candidate(key, path) for key, path in enumerate(paths)))
    assert [row["legacy"] for row in rows] == legacy


def test_a_header_declares_what_a_source_file_beside_it_defines() -> None:
    header, source, other = candidate(1, "lib/url.h"), candidate(2, "lib/url.c"), candidate(3, "lib/list.h")
    assert [row["declaration"] for row in of("url", header, source, other)] == [1.0, 0.0, 0.0]
    assert [row["declaration"] for row in of("url", candidate(1, "a.pyi"), header)] == [1.0, 0.0]


def test_of_a_long_text_the_three_best_of_a_file_speak_for_it() -> None:
    best, twice = candidate(1, "a.py", lexical=6.0), [candidate(n, "b.py", lexical=4.0) for n in (2, 3)]
    more = [candidate(n, "c.py", lexical=1.0) for n in (4, 5, 6, 7)]
    short, long = RankingQuery(("url",)), RankingQuery(("url",), minor_terms={"host": 1.0})
    assert {row["file_several"] for row in of(short, best, *twice, *more)} == {0.0}
    assert [row["file_several"] for row in of(long, best, *twice, *more)] == [0.75, 1.0, 1.0, *[0.375] * 4]


@pytest.mark.parametrize(
    ("question", "path", "text", "value"),
    [
        ("ticket", "locale/fr.json", "{}", 2.0),
        ("ticket translations", "locale/fr.json", "{}", 0.0),
        ("ticket", "ticket.py", "TABLE = [\n" + "    0.25, 1.5, 'a',\n" * 20 + "]\n", 1.0),
        ("ticket", "ticket.py", "    ticket = printed(fare, zone, 'child')\n" * 20, 0.0),
        ("ticket", "ticket.py", "[1, 2, 3]", 0.0),  # too short to be a table
        ("ticket", "ticket.py", "", 0.0),
    ],
)
def test_data_is_told_by_its_folder_or_its_text(question: str, path: str, text: str, value: float) -> None:
    [row] = of(question, candidate(1, path, text=text))
    assert row["data"] == value


def test_what_a_source_did_not_find_has_nothing_of_its_signals() -> None:
    near, far = candidate(1, "a.py", vector=0.4), candidate(2, "b.py", lexical=2.0)
    rows = of("q", near, far)
    assert [row["vector"] for row in rows] == [1.0, 0.0]
    assert [row["vector_rank"] for row in rows] == [1.0, 0.0]
    assert [row["lexical"] for row in rows] == [0.0, 1.0]
    opposite = of("q", candidate(1, "a.py", vector=-0.4), candidate(2, "b.py", vector=0.0))
    assert [row["vector"] for row in opposite] == [0.0, 0.0]
    assert [row["vector_rank"] for row in opposite] == [0.0, 0.0]


def test_places_by_meaning_and_equals_that_share_one() -> None:
    rows = of("q", *(candidate(n, f"{n}.py", vector=value) for n, value in enumerate((0.2, 0.9, 0.9, 0.5))))
    assert [row["vector_rank"] for row in rows] == [0.25, 1.0, 1.0, pytest.approx(1 / 3)]


def test_evidence_of_a_file_is_the_best_of_its_places() -> None:
    rows = of(
        "q",
        candidate(1, "a.py", lexical=1.0, vector=0.2),
        candidate(2, "a.py", lexical=4.0, vector=0.1),
        candidate(3, "b.py", lexical=2.0, vector=0.4),
    )
    assert [row["file_lexical"] for row in rows] == [1.0, 1.0, 0.5]
    assert [row["file_vector"] for row in rows] == [0.5, 0.5, 1.0]


def test_size_and_depth_of_a_file() -> None:
    (row,) = of("q", candidate(1, "a/b/c/d/e/f.py")._replace(n_lines=99))
    assert row["depth"] == 1.0
    assert row["file_size"] == pytest.approx(0.5756, abs=0.0001)


def test_a_newer_copy_makes_all_older_ones_older() -> None:
    rows = of("scan", *(candidate(n, path) for n, path in enumerate(("v1/a.go", "v3/a.go", "v2/a.go", "v9/b.go"))))
    assert [row["legacy"] for row in rows] == [1.0, 0.0, 1.0, 0.0]


def test_a_file_made_of_others_counts_less_than_an_older_copy() -> None:
    def body(name: str) -> str:
        return "".join(f"    {name}_total += {name}_part_{n}(self);\n" for n in range(5))

    large = [
        candidate(n, "all.c", name, text=body(name))._replace(n_lines=2_000) for n, name in enumerate(("up", "on"))
    ]
    small = [candidate(n + 5, f"src/{name}.c", name, text=body(name)) for n, name in enumerate(("up", "on"))]
    assert [row["legacy"] for row in of("q", *large, *small)] == [1.5, 1.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1," * 25, 1.0),
        ("1," * 24, 0.0),  # fewer signs than any table
        ("1234567," * 25, 1.0),
        ("12345678," * 25, 0.0),  # a comma is less than an eighth of it
        ("'1234'," * 25, 1.0),
        ("'1','2'," * 13, 1.0),
        ("f(1," * 25, 0.0),  # it calls
        ("1," * 50 + "f(x)" * 10, 1.0),
        ("1," * 50 + "f(x)" * 11, 0.0),
        ("1," * 50 + "x;" * 11, 0.0),
        ("1," * 50 + "x=" * 11, 0.0),
    ],
)
def test_a_table_is_commas_and_quotes_and_little_is_done(text: str, value: float) -> None:
    (row,) = of("ticket", candidate(1, "ticket.py", text=text))
    assert row["data"] == value


def test_documentation_beside_code_with_more_or_fewer_of_the_words() -> None:
    note = candidate(1, "notes/a.md", text="walrus pier")
    code = candidate(2, "a.py", text="walrus")
    assert [row["prose"] for row in of("walrus pier rope ferry", note, code)] == [1.0, 0.0]
    assert [row["prose"] for row in of("walrus pier", candidate(1, "notes/a.md"), code)] == [1.0, 0.0]


@pytest.mark.parametrize(("line", "value"), [(10, 0.0), (11, 0.8), (20, 0.8), (21, 0.0)])
def test_a_definition_lies_in_the_chunk_with_its_line(line: int, value: float) -> None:
    query = RankingQuery((), symbols=("Queue",), heads={"a.py": (DefinitionPlace("a.py", "class", "Queue", line),)})
    (row,) = of(query, Candidate(1, Chunk("id1", "a.py", "python", "class", "", (), 11, 20, "")))
    assert row["definition"] == value
