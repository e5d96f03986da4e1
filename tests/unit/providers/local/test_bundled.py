from __future__ import annotations

import json
import math
import platform
import struct
import subprocess
import sys
from hashlib import blake2b
from operator import mul
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.waiting import LONG_S

from codefathom.errors import ProviderError
from codefathom.providers.local.bundled import (
    MODEL_FILE,
    BundledEmbedder,
    load,
    parts_of,
    pieces_of,
    tokens_of,
    words_of,
)
from codefathom.stores.vectors.flat_vectors import are_near, quantise
from codefathom.testing import rows_of

ROOT = Path(__file__).parents[4]
EMBEDDER = BundledEmbedder()
VOCABULARY = load(MODEL_FILE).vocabulary


def cosine(question: str, text: str, embedder: BundledEmbedder = EMBEDDER) -> float:
    first, second = (rows_of(embedder.embed([part], "query"))[0] for part in (question, text))
    return sum(map(mul, first, second))


def model_file(path: Path, rows: dict[str, list[int]]) -> str:
    """Write a tiny model by hand, with scale 1/2 for every token."""
    vocabulary = "\n".join(rows).encode()
    vocabulary += b" " * (-len(vocabulary) % 4)
    header = {"name": "tiny:1", "dimensions": 2, "vocabulary_bytes": len(vocabulary)}
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 4)
    numbers = struct.pack(f"<{len(rows)}f", *[0.5] * len(rows)) + b"".join(struct.pack("2b", *v) for v in rows.values())
    path.write_bytes(b"FATHOM01" + struct.pack("<I", len(head)) + head + vocabulary + numbers)
    return str(path)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("parseHTTPResponse2", ["parse", "http", "response", "2"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("__init__", ["init"]),
        ("MAX_SIZE", ["max", "size"]),
        ("sha256sum", ["sha", "256", "sum"]),
        ("naïve", ["na", "ï", "ve"]),
        ("读取文件", ["读", "取", "文", "件", "读取", "取文", "文件"]),
        ("x" * 65, []),
    ],
)
def test_identifiers_fall_into_words(word: str, parts: list[str]) -> None:
    assert parts_of(word) == parts


def test_chinese_is_cut_out_of_other_text() -> None:
    assert words_of("getUser获取用户(id)") == ["getUser", "获取用户", "id"]


def test_an_unknown_word_falls_into_its_longest_known_pieces() -> None:
    known = {"token": 0, "tok": 1, "##iz": 2, "##izer": 3, "##s": 4}
    assert list(pieces_of("tokenizers", known)) == ["token", "##izer", "##s"]


def test_letters_that_no_piece_has_are_left_out() -> None:
    assert list(pieces_of("aébc", {"##b": 0, "##c": 1})) == ["##b", "##c"]


def test_known_words_are_not_cut() -> None:
    known = {"parse": 0, "parser": 1}
    assert list(tokens_of("parseParser", known)) == ["parse", "parser"]


@given(text=st.text("abc def_GHI 读取(文件)12", max_size=60))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_query_is_the_same_to_the_last_bit_where_numpy_is_loaded(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy  # noqa: F401 -- so that it is there

    with_numpy = EMBEDDER.embed([text], "query").tobytes()
    with monkeypatch.context() as without:
        without.delitem(sys.modules, "numpy")
        assert EMBEDDER.embed([text], "query").tobytes() == with_numpy


@given(texts=st.lists(st.text("abc def_GHI parse user 读取(文件)12", max_size=200), min_size=1, max_size=5))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_few_documents_are_quantised_as_numpy_does_it(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy  # noqa: F401 -- so that it is there

    with_numpy = quantise(EMBEDDER.embed(texts, "document"))
    with monkeypatch.context() as without:
        without.delitem(sys.modules, "numpy")
        rows = quantise(EMBEDDER.embed(texts, "document"))
    assert all(are_near(*pair) for pair in zip(rows, with_numpy, strict=True))
    if platform.machine() in ("x86_64", "AMD64"):  # others round once where these round twice
        assert rows == with_numpy


_TAKES_IN = """
import sys
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.stores.vectors.flat_vectors import quantise
quantise(BundledEmbedder().embed(["def retry(limit): raise the limit " * 9, "a commit"], "document"))
print("numpy" in sys.modules)
"""


def test_few_documents_need_no_numpy() -> None:
    run = subprocess.run([sys.executable, "-c", _TAKES_IN], capture_output=True, check=True, timeout=LONG_S, text=True)
    assert run.stdout.strip() == "False"


def test_unknown_numbers_say_nothing() -> None:
    assert list(tokens_of("x_99887766", {"x": 0, "##9": 1})) == ["x"]


@given(st.text(max_size=80))
@settings(max_examples=100)
def test_any_text_gives_unit_or_zero_rows(text: str) -> None:
    length = math.hypot(*rows_of(EMBEDDER.embed([text], "query"))[0])
    assert length == 0 or abs(length - 1) < 1e-5


@given(st.lists(st.text("abc def_GHI 读取(文件)12", max_size=60), min_size=1, max_size=5))
@settings(max_examples=60)
def test_both_ways_of_embedding_agree(texts: list[str]) -> None:
    for one, many in zip(*(rows_of(EMBEDDER.embed(texts, kind)) for kind in ("query", "document")), strict=True):
        assert max(abs(a - b) for a, b in zip(one, many, strict=True)) < 1e-5


def test_both_ways_agree_on_long_texts() -> None:
    text = Path(__file__).read_text("utf-8")
    one, many = (rows_of(EMBEDDER.embed([text], kind))[0] for kind in ("query", "document"))
    assert max(abs(a - b) for a, b in zip(one, many, strict=True)) < 1e-5


def test_sums_rows_by_scale_and_damped_count(tmp_path: Path) -> None:
    embedder = BundledEmbedder(model_file(tmp_path / "m", {"east": [6, 0], "north": [0, 8]}))
    # four times east counts twice: (2 * 3, 4), which has length √52
    expected = [6 / math.sqrt(52), 4 / math.sqrt(52)]
    for kind in ("query", "document"):
        (row,) = rows_of(embedder.embed(["east East north east EAST"], kind))
        assert row == pytest.approx(expected, abs=1e-6)


def test_names_and_sizes_come_from_the_file(tmp_path: Path) -> None:
    embedder = BundledEmbedder(model_file(tmp_path / "m", {"east": [6, 0]}))
    assert (embedder.name, embedder.dimensions) == ("tiny:1", 2)


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b"X" + b[1:], lambda b: b + b"0", lambda b: b"", bytes.lower]
)
def test_a_damaged_model_is_named(tmp_path: Path, damage) -> None:
    path = tmp_path / "m"
    model_file(path, {"east": [6, 0], "north": [0, 8]})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ProviderError, match=str(path)) as caught:
        BundledEmbedder(str(path))
    assert "install codefathom again" in caught.value.hint


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="nowhere"):
        BundledEmbedder(str(tmp_path / "nowhere"))


def test_the_memory_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codefathom.providers.local.bundled._MAX_MEMO", 3)
    embedder = BundledEmbedder()
    before = embedder.embed(["read the cache file"], "query").tobytes()
    embedder.embed(["one two three four five"], "query")
    assert embedder.embed(["read the cache file"], "query").tobytes() == before
    assert len(embedder._tokens._memo) == 4


def test_the_name_ends_in_the_hash_of_the_content() -> None:
    data = Path(MODEL_FILE).read_bytes()
    content = data[12 + struct.unpack("<I", data[8:12])[0] :]
    assert EMBEDDER.name == f"fathom-static-1:{blake2b(content, digest_size=4).hexdigest()}"


def test_the_model_is_small_and_knows_pieces_of_every_letter() -> None:
    assert Path(MODEL_FILE).stat().st_size <= 16 * 1024 * 1024
    assert all("##" + letter in VOCABULARY for letter in "abcdefghijklmnopqrstuvwxyz0123456789")


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("delete a directory", "def rmtree(folder): shutil.remove", "def average(numbers): return sum"),
        ("retry after failure", "backoff = attempt * 2; sleep(backoff)", "class Color: red, green, blue"),
        ("encrypt password", "hash = bcrypt(secret, salt)", "for row in table: print(row)"),
        ("database connection", "class SqlSession { pool; cursor }", "def draw_circle(radius, color)"),
        ("读取文件", "open(path).read()", "def multiply(matrix, vector)"),
    ],
)
def test_meaning_is_found_without_a_word_in_common(question: str, right: str, wrong: str) -> None:
    assert cosine(question, right) > cosine(question, wrong) + 0.05


def test_a_query_imports_no_numpy() -> None:
    program = (
        "import sys; from codefathom.providers.local.bundled import BundledEmbedder;"
        "BundledEmbedder().embed(['how are files read'], 'query'); print('numpy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    assert found.stdout.strip() == "False"
