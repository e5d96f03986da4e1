"""The user-wide cache: never wrong, never in the way."""

from __future__ import annotations

import sqlite3
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.waiting import Started, join

from codefathom.facts.reasons import TOO_BROKEN, Note, verbatim
from codefathom.stores.cache import FORMAT, Cache, decode_parsed, encode_parsed
from codefathom.types import Break, Document, ParsedDocument, Reference, Symbol

FILE = f"cache-{FORMAT}.db"


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path / "new" / "folder"))
    cache.put_parsed({"a": b"1", "b": b"2"})
    cache.put_vectors("m", {"h": b"\1\2"})
    cache.put_vectors("other", {"h": b"\3"})
    cache.put_parsed({"a": b"9"})
    cache.close()
    again = Cache.open(str(tmp_path / "new" / "folder"))
    assert again.get_parsed(["a", "b", "c"]) == {"a": b"9", "b": b"2"}
    assert again.get_vectors("m", ["h", "x"]) == {"h": b"\1\2"}
    assert again.get_vectors("other", {"h"}) == {"h": b"\3"}
    assert again.get_vectors("third", ["h"]) == again.get_parsed([]) == {}


def test_keeps_purposes_by_model_and_bytes(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path))
    cache.put_purposes("m", {"a": "Reads Müll.", "b": ""})
    cache.put_purposes("m", {"a": "Reads 文件."})
    assert cache.get_purposes("m", ["a", "b", "c"]) == {"a": "Reads 文件.", "b": ""}
    assert cache.get_purposes("other", ["a"]) == {}


def test_a_cache_that_knew_no_purposes_takes_them(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path))
    cache.put_parsed({"a": b"1"})
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("DROP TABLE purposes")
    db.close()
    cache = Cache.open(str(tmp_path))
    cache.put_purposes("m", {"a": "Reads."})
    assert (cache.get_parsed(["a"]), cache.get_purposes("m", ["a"])) == ({"a": b"1"}, {"a": "Reads."})


def test_old_purposes_go_when_the_cache_is_cut(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path))
    cache.put_purposes("m", {f"old{number}": "x" * 1_000 for number in range(400)})
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE purposes SET used = 1000")
    db.close()
    cache = Cache.open(str(tmp_path), max_bytes=200_000)
    cache.put_purposes("m", {"new": "Reads."})
    left = cache.get_purposes("m", ["new", *(f"old{number}" for number in range(400))])
    assert left["new"] == "Reads."
    assert len(left) < 200
    assert "old0" not in left


def test_takes_more_keys_than_one_statement(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path))
    items = {f"key{number}": b"v%d" % number for number in range(33_000)}
    cache.put_vectors("m", items)
    assert cache.get_vectors("m", items) == items


def test_what_was_used_last_stays_when_the_cache_is_cut(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path), max_bytes=400_000)
    cache.put_parsed({f"old{number}": bytes(1_000) for number in range(500)})
    cache.put_parsed({f"kept{number}": bytes(1_000) for number in range(100)})
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE parsed SET used = 1000")
    db.close()
    cache = Cache.open(str(tmp_path), max_bytes=250_000)
    assert len(cache.get_parsed([f"kept{number}" for number in range(100)])) == 100  # used today
    cache.put_vectors("m", {"new": bytes(1_000)})
    with sqlite3.connect(tmp_path / FILE) as db:
        left = dict(db.execute("SELECT substr(key, 1, 3), count(*) FROM parsed GROUP BY 1"))
    db.close()
    assert left["kep"] == 100
    assert 0 < left["old"] < 150
    assert cache.get_vectors("m", ["new"]) == {"new": bytes(1_000)}


def test_stays_below_its_bound_however_much_is_put(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path), max_bytes=20_000_000)
    for part in range(12):
        cache.put_vectors("m", {f"{part}-{number}": bytes([part]) * 4_000 for number in range(1_000)})
    assert len(cache.get_vectors("m", [f"11-{number}" for number in range(1_000)])) == 1_000
    assert cache.get_vectors("m", ["0-0"]) == {}
    cache.close()
    assert (tmp_path / FILE).stat().st_size < 40_000_000


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100, b"SQLite format 3\0" + bytes(4_000)])
def test_a_file_that_is_no_cache_is_made_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    cache = Cache.open(str(tmp_path))
    cache.put_parsed({"a": b"1"})
    assert cache.get_parsed(["a"]) == {"a": b"1"}


def test_a_foreign_table_of_the_same_name_is_set_aside(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("CREATE TABLE parsed(something)")
    db.close()
    cache = Cache.open(str(tmp_path))
    cache.put_parsed({"a": b"1"})
    assert cache.get_parsed(["a"]) == {"a": b"1"}


def test_damage_anywhere_costs_entries_only(tmp_path: Path) -> None:
    items = {f"key{number}": b"%d" % number * 100 for number in range(300)}
    cache = Cache.open(str(tmp_path))
    cache.put_parsed(items)
    cache.close()
    whole = (tmp_path / FILE).read_bytes()
    for place in range(0, len(whole), len(whole) // 25):
        for damaged in (whole[:place], whole[:place] + b"\x55" * 3_000 + whole[place + 3_000 :]):
            (tmp_path / FILE).write_bytes(damaged)
            cache = Cache.open(str(tmp_path))
            assert cache.get_parsed(items).items() <= items.items()
            cache.put_parsed({"new": b"1"})
            cache.put_parsed({"new": b"1"})
            assert cache.get_parsed(["new"]) == {"new": b"1"}
            cache.close()


def test_without_a_folder_to_write_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache.open(str(tmp_path / "file"))
    cache.put_parsed({"a": b"1"})
    assert cache.get_parsed(["a"]) == {}


WRITER = """
import sys
from codefathom.stores.cache import Cache
cache = Cache.open(sys.argv[1])
for number in range(40):
    cache.put_parsed({f"{sys.argv[2]}-{number}": sys.argv[2].encode() * 50})
    cache.put_vectors("m", {f"{number}": b"same"})
"""


def test_several_processes_and_threads_share_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    children = [Started([*command, name]) for name in ("a", "b", "c")]
    cache = Cache.open(str(tmp_path))
    threads = [threading.Thread(target=cache.put_parsed, args=({f"t-{n}": b"t"},)) for n in range(10)]
    for thread in threads:
        thread.start()
    join(*threads)
    assert [child.wait() for child in children] == [0] * 3
    assert len(cache.get_parsed([f"{name}-{number}" for name in "abc" for number in range(40)])) == 120
    assert len(cache.get_parsed([f"t-{number}" for number in range(10)])) == 10
    assert len(cache.get_vectors("m", [str(number) for number in range(40)])) == 40


DOCUMENT = Document("a/b.py", "python", "text", "fp", 4)
text = st.text(max_size=20)
line = st.integers(1, 10**6)
parsed = st.builds(
    ParsedDocument,
    document=st.just(DOCUMENT),
    symbols=st.lists(st.builds(Symbol, text, text, text, line, line, line, text, text), max_size=4).map(tuple),
    references=st.lists(
        st.builds(Reference, st.sampled_from(["import", "call", "type"]), text, line, text, line), max_size=4
    ).map(tuple),
    breaks=st.lists(st.builds(Break, line, line), max_size=4).map(tuple),
    parser=text,
    problems=st.lists(st.just(Note(TOO_BROKEN)) | text.map(verbatim), max_size=2).map(tuple),
)


@settings(max_examples=60)
@given(parsed)
def test_a_parse_result_comes_back_as_it_was(parsed: ParsedDocument) -> None:
    assert decode_parsed(encode_parsed(parsed), DOCUMENT) == parsed


def test_the_text_is_not_kept_twice() -> None:
    long = Document("a.py", "python", "unlikely" * 10_000, "fp", 80_000)
    assert len(encode_parsed(ParsedDocument(long, (), (), (), "p"))) < 100


@settings(max_examples=40)
@given(st.binary(max_size=60))
def test_other_bytes_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_parsed(data, DOCUMENT)


def test_a_row_with_the_value_of_another_one_is_not_believed(tmp_path: Path) -> None:
    cache = Cache.open(str(tmp_path))
    cache.put_parsed({"a": b"1", "b": b"2"})
    cache.put_vectors("m", {"a": b"1", "b": b"2"})
    cache.put_purposes("m", {"a": "Reads.", "b": "Writes."})
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        for table, key in (("parsed", "key"), ("vectors", "text_hash"), ("purposes", "fingerprint")):
            db.execute(
                f"UPDATE {table} SET (value, checksum) = (SELECT value, checksum FROM {table} WHERE {key} = 'b') "
                f"WHERE {key} = 'a'"
            )
    db.close()
    cache = Cache.open(str(tmp_path))
    assert cache.get_parsed(["a", "b"]) == {"b": b"2"}
    assert cache.get_vectors("m", ["a", "b"]) == {"b": b"2"}
    assert cache.get_purposes("m", ["a", "b"]) == {"b": "Writes."}
    cache.close()


@pytest.mark.parametrize(
    "damage", ["value = 'text'", "value = 7", "checksum = 'x'", "used = 'x'", "key = CAST(X'61ff' AS TEXT)"]
)
def test_a_row_of_other_kinds_of_values_is_no_error(tmp_path: Path, damage: str) -> None:
    cache = Cache.open(str(tmp_path))
    cache.put_parsed({"a": b"1", "b": b"2"})
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute(f"UPDATE parsed SET {damage} WHERE key = 'a'")
    db.close()
    cache = Cache.open(str(tmp_path))
    assert cache.get_parsed(["a", "b", b"a\xff".decode("latin-1")]).get("b") == b"2"
    assert cache.get_parsed(["a"]) in ({}, {"a": b"1"})
    cache.put_parsed({"a": b"1"})
    assert cache.get_parsed(["a"]) == {"a": b"1"}
    cache.close()
