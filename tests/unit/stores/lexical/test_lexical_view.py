"""The lexical view: finds words, filters inside, and is never trusted further than its generation."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from zlib import crc32

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.waiting import Started, comes

from codefathom.errors import IndexingError
from codefathom.stores.base import Fields
from codefathom.stores.folder import Folder
from codefathom.stores.lexical.fields import fields_of
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.text.required_words import WordPart
from codefathom.types import Chunk

BODY = {"body": 1.0}
ALL = {"path": 1.0, "name": 1.0, "signature": 1.0, "body": 1.0}


def body(text: str) -> Fields:
    return Fields("", "", "", text)


def build(folder: Path, texts: dict[int, str], generation: int = 1) -> LexicalView:
    view = LexicalView.open(str(folder))
    view.clear()
    view.update([(key, body(text)) for key, text in texts.items()], ())
    view.commit(generation)
    return view


def keys(view: LexicalView, words: str, allowed: object = None, k: int = 10) -> list[int]:
    return [key for key, _ in view.search(dict.fromkeys(words.split(), 1.0), k, BODY, allowed)]  # type: ignore[arg-type]


def test_fields_of_a_chunk() -> None:
    chunk = Chunk(
        *("id", "src/http_client.py", "python", "method", "Client.sendNow", ("Client.sendNow", "Client.close"), 3, 4),
        *("def sendNow(self):\n", "def sendNow(self)", "Sends it."),
    )
    assert fields_of(chunk) == Fields(
        "src http_client http client py",
        "client sendnow send now client close",
        "def sendnow send now self sends it",
        "def sendnow send now self",
        crc32(b"src/http_client.py"),
    )
    inside = Chunk("id", "a.py", "python", "method", "Outer.inner", (), 3, 4, "x\n")
    assert fields_of(inside).name == "outer inner"


def test_ranks_by_rarity_frequency_and_length(tmp_path: Path) -> None:
    view = build(tmp_path, {1: "the the cache", 2: "the retry", 3: "the other words", 4: "retry retry"})
    assert keys(view, "retry") == [4, 2]
    assert keys(view, "the cache")[0] == 1
    assert keys(view, "nowhere") == []
    assert view.search({}, 10, BODY) == view.search({"the": 1.0}, 0, BODY) == []


def test_the_far_chunks_are_found_when_only_they_are_allowed(tmp_path: Path) -> None:
    texts = dict.fromkeys(range(4000), "word " * 9) | dict.fromkeys(range(4000, 8000), "word " + "x " * 40)
    view = build(tmp_path, texts)
    assert len(view.search({"word": 1.0}, 50, BODY, range(4_000, 8_000))) == 50


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.dictionaries(st.integers(1, 12), st.sampled_from(["a", "b", "a b"]), max_size=5)),
        st.tuples(st.just("remove"), st.sets(st.integers(1, 12), max_size=4)),
        st.tuples(st.sampled_from(["commit", "clear", "reopen"]), st.none()),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(operations)
def test_equals_a_dictionary(tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, object]]) -> None:
    folder = tmp_path_factory.mktemp("view")
    view = LexicalView.open(str(folder))
    now: dict[int, str] = {}
    shown: dict[int, str] = {}
    generation = 0
    for name, value in [*operations, ("commit", None)]:
        if name == "add":
            assert isinstance(value, dict)
            view.update([(key, body(text)) for key, text in value.items()], ())
            now |= value
        elif name == "remove":
            assert isinstance(value, set)
            view.update((), value)
            now = {key: text for key, text in now.items() if key not in value}
        elif name == "clear":
            view.clear()
            now = {}
        elif name == "reopen":
            view.close()
            view, now = LexicalView.open(str(folder)), dict(shown)
        else:
            generation += 1
            view.commit(generation)
            shown = dict(now)
        for word in "ab":
            expected = {key for key, text in shown.items() if word in text}
            assert set(keys(view, word, k=50)) == expected
            assert set(keys(LexicalView.open(str(folder)), word, k=50)) == expected
    assert view.generation == generation
    assert view.n_chunks == len(shown)


def test_generation_begins_at_minus_one_and_follows_commits(tmp_path: Path) -> None:
    view = LexicalView.open(str(tmp_path / "new"))
    assert view.generation == -1
    view.commit(0)
    assert LexicalView.open(str(tmp_path / "new")).generation == 0
    view.commit(5)  # nothing changed but the number
    assert LexicalView.open(str(tmp_path / "new")).generation == 5
    view.clear()
    assert view.generation == -1
    assert LexicalView.open(str(tmp_path / "new")).generation == 5


def test_a_reader_keeps_the_old_view_until_it_reloads(tmp_path: Path) -> None:
    build(tmp_path, {1: "old"})
    reader = LexicalView.open(str(tmp_path))
    writer = LexicalView.open(str(tmp_path))
    for generation in range(2, 5):
        if generation % 2:
            writer.clear()
        writer.update([(generation, body("new"))], [generation - 1])
        assert keys(reader, "old new") == [generation - 1]
        writer.commit(generation)
        assert keys(reader, "old new") == [generation - 1]
        reader.reload()
        assert (reader.generation, keys(reader, "old new")) == (generation, [generation])


def has_chunks(index: tantivy.Index, n_chunks: int) -> bool:
    return int(index.searcher().num_docs) == n_chunks


def test_a_reader_does_not_follow_a_commit_by_itself(tmp_path: Path) -> None:
    build(tmp_path, {1: "old"})
    reader = LexicalView.open(str(tmp_path))
    follows = tantivy.Index.open(str(tmp_path / "1"))  # it looks for commits twice a second
    writer = LexicalView.open(str(tmp_path))
    for generation in (2, 3):  # when the second one is seen, each that looks has seen the first
        writer.update([(generation, body("new")), (10 * generation, body("new"))], [generation - 1])
        writer.commit(generation)
        assert comes(partial(has_chunks, follows, generation))
    assert keys(reader, "old new") == [1]


def test_leaves_no_folders_behind(tmp_path: Path) -> None:
    for generation in range(1, 5):
        build(tmp_path, {1: "word"}, generation)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["4", "state"]


def test_the_view_of_another_catalogue_is_not_used(tmp_path: Path) -> None:
    build(tmp_path, {1: "word"})
    assert LexicalView.open(str(tmp_path), owner="other").generation == -1
    assert LexicalView.open(str(tmp_path)).generation == 1


@pytest.mark.parametrize(
    "state",
    [
        "",
        "lexical 1 -\n1\n1\n",
        "lexical 3 -\n1\n1\n0\n",
        "lexical 3 -\n1\n1\n0\n0",
        "lexical 3 -\n1\nx\n0\n0\n",
        "\0" * 30,
        "ä\n",
    ],
)
def test_a_state_that_cannot_be_read_means_no_view(tmp_path: Path, state: str) -> None:
    build(tmp_path, {1: "word"})
    (tmp_path / "state").write_text(state, encoding="utf-8")
    view = LexicalView.open(str(tmp_path))
    assert (view.generation, keys(view, "word"), view.n_chunks, view.document_frequencies(["word"])) == (
        *(-1, [], 0),
        {"word": 0},
    )
    assert keys(build(tmp_path, {1: "word"}), "word") == [1]


@pytest.mark.parametrize("share", [None, 0.0, 0.5, 0.99])
def test_missing_and_cut_files_mean_no_view_and_it_can_be_built_again(tmp_path: Path, share: float | None) -> None:
    build(tmp_path / "whole", dict.fromkeys(range(50), "word"))
    names = [path.name for path in (tmp_path / "whole" / "1").iterdir() if not path.name.startswith(".")]
    assert len(names) > 3
    for name in names:
        folder = tmp_path / f"without-{name}"
        shutil.copytree(tmp_path / "whole", folder)
        whole = (folder / "1" / name).read_bytes()
        (folder / "1" / name).unlink()
        if share is not None:
            (folder / "1" / name).write_bytes(whole[: int(len(whole) * share)])
        view = LexicalView.open(str(folder))
        hits = keys(view, "word")
        assert view.document_frequencies(["word"])["word"] in (0, 50)
        assert hits in ([], list(range(10)))
        again = LexicalView.open(str(folder))
        assert (view.generation, again.generation) == ((1, 1) if hits else (-1, -1))
        assert len(keys(build(folder, {1: "word"}, 2), "word")) == 1


def test_a_second_writer_is_an_error_that_says_so(tmp_path: Path) -> None:
    build(tmp_path, {1: "word"})
    one, other = LexicalView.open(str(tmp_path)), LexicalView.open(str(tmp_path))
    one.update([(2, body("word"))], ())
    with pytest.raises(IndexingError, match="written"):
        other.update([(3, body("word"))], ())


KILLED = """
import random, sys
from codefathom.stores.lexical.fields import Fields
from codefathom.stores.lexical.lexical_view import LexicalView
view = LexicalView.open(sys.argv[1])
print("go", flush=True)
while True:
    since = max(view.generation, 0)
    if random.random() < 0.3:
        view.clear()
        since = 0
    for step in range(since, since + 5 if since else view.generation + 40):
        view.update([(step * 10 + n, Fields("", "", "", "word")) for n in range(10)], [abs(step * 10 - 5)])
    view.commit(step + 1)
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(50, marks=pytest.mark.long)])
def test_after_a_kill_the_changes_can_be_applied_again(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(8)
    for _ in range(rounds):
        with Started([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(chance.random() / 5)
            child.kill()
        # The catalogue has all the steps that the killed process may have committed without noting it: five.
        view = LexicalView.open(str(tmp_path))
        since = max(view.generation, 0)
        for step in range(since, since + 5):
            view.update([(step * 10 + n, body("word")) for n in range(10)], [abs(step * 10 - 5)])
        view.commit(since + 5)
        expected = {key for key in range((since + 5) * 10) if (key + 5) % 10 or key == since * 10 + 45}
        assert set(keys(view, "word", k=10**6)) == expected


@pytest.mark.parametrize("change", ["removed", "cut", "other"])
def test_a_damaged_list_of_terms_is_not_believed(tmp_path: Path, change: str) -> None:
    view = LexicalView.open(str(tmp_path))
    view.update([(1, body("alpha"))], ())
    view.commit(1)
    assert LexicalView.open(str(tmp_path)).chunks_with([((WordPart("alp"),),)]) == {1: 0}
    [file] = tmp_path.glob("*/terms.*")
    content = file.read_bytes()
    file.unlink() if change == "removed" else file.write_bytes(content[:-2] if change == "cut" else content.upper())
    damaged = LexicalView.open(str(tmp_path))
    assert damaged.chunks_with([((WordPart("alp"),),)]) is None
    assert "terms." in damaged.damage()
    assert [key for key, _ in damaged.search({"alpha": 1.0}, 5, {"body": 1.0})] == [1]


def test_lists_of_terms_stay_few(tmp_path: Path) -> None:
    view = LexicalView.open(str(tmp_path))
    for number in range(60):
        view.update([(number, body(f"word{number}"))], ())
        view.commit(number + 1)
    assert len(list(tmp_path.glob("*/terms.*"))) <= 17
    assert view.chunks_with([((WordPart("word0", ends=True),),)]) == {0: 0}
    assert view.damage() == ""


def test_a_view_that_was_taken_over_keeps_its_terms(tmp_path: Path) -> None:
    """tantivy removes the files in its list that it does not use: those of the terms are not its own."""
    build(tmp_path / "before", {1: "the cached words", 2: "the retry"}).close()
    view = LexicalView.open(str(tmp_path / "now"))
    view.take(Folder(str(tmp_path / "before")))
    view.reload()
    view.update([(3, body("uncached"))], ())
    view.commit(2)
    assert view.damage() == ""
    assert view.chunks_with([((WordPart("cached"),),)]) == {1: 0, 3: 0}
    joined = LexicalView.open(str(tmp_path / "both"))
    joined.join([(Folder(str(tmp_path / "now")), "")], 2)
    joined.update([(4, body("recached"))], ())
    joined.commit(3)
    assert joined.damage() == ""
