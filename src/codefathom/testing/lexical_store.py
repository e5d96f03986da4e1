"""The contract of lexical stores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random

from codefathom.stores.base import FIELDS, Fields, LexicalStore
from codefathom.text.required_words import WordPart

_K1, _B = 1.2, 0.75  # of BM25
_TOLERANCE = 1e-3
_WORDS = "alpha beta gamma delta epsilon zeta".split()  # noqa: SIM905 -- reads better


class LexicalStoreContract:
    """The behaviour of every `LexicalStore`. A test class inherits from it and opens one in a folder."""

    n_rounds = 20

    def open(self, folder: Path) -> LexicalStore:
        """Return the store under test, in this folder; called again, it finds what was committed."""
        raise NotImplementedError

    def test_begins_empty(self, tmp_path: Path) -> None:
        """Nothing is there, and it says so."""
        store = self.open(tmp_path)
        assert (store.generation, store.n_chunks) == (-1, 0)
        assert store.search({"alpha": 1.0}, 5, _BODY) == []
        assert store.document_frequencies(["alpha"]) == {"alpha": 0}
        assert store.containing("alpha", 5) == []

    def test_scores_are_those_of_computed_plainly(self, tmp_path: Path) -> None:
        """In a view that was built at once, for weights of words and fields, within rounding."""
        random = Random(31)
        rows = {key: _fields(random) for key in random.sample(range(1_000), 200)}
        store = self._built(tmp_path, rows)
        for _ in range(20):
            words = {word: random.choice((0.5, 1.0, 2.0)) for word in random.sample(_WORDS, 3)}
            weights = {field: random.choice((0.0, 0.5, 1.0)) for field in FIELDS}
            expected = _computed_plainly(rows, words, weights)
            scores = dict(store.search(words, 1_000, weights))
            assert scores.keys() == expected.keys()
            for key, score in scores.items():
                assert math.isclose(score, expected[key], rel_tol=_TOLERANCE), (words, weights, rows[key])

    def test_the_best_come_first_and_equals_by_key(self, tmp_path: Path) -> None:
        """For any number of hits; nothing to look for finds nothing."""
        store = self._built(tmp_path, {9: _body("alpha"), 3: _body("alpha"), 7: _body("alpha alpha"), 1: _body("beta")})
        assert [key for key, _ in store.search({"alpha": 1.0}, 10, _BODY)] == [7, 3, 9]
        assert [key for key, _ in store.search({"alpha": 1.0}, 1, _BODY)] == [7]
        assert store.search({}, 10, _BODY) == store.search({"alpha": 1.0}, 0, _BODY) == []

    def test_a_filter_works_inside_the_search(self, tmp_path: Path) -> None:
        """The k best of what is allowed are found, however many others are better."""
        random = Random(32)
        rows = {key: _body("alpha " * (1 + key % 7) + "beta " * (key % 11)) for key in range(5_001)}
        store = self._built(tmp_path, rows)
        everything = store.search({"alpha": 1.0}, 10_000, _BODY)
        for n_allowed in (1, 50, 2_999, 3_001, 5_000):
            allowed = set(random.sample(sorted(rows), n_allowed))
            for k in (1, 20, 6_000):
                hits = store.search({"alpha": 1.0}, k, _BODY, allowed)
                expected = [score for key, score in everything if key in allowed][:k]
                assert len({key for key, _ in hits} & allowed) == len(expected)
                assert all(math.isclose(a, b) for (_, a), b in zip(hits, expected, strict=True))
        nothing: tuple[Collection[int], ...] = (set(), {10**9})
        assert [store.search({"alpha": 1.0}, 5, _BODY, allowed) for allowed in nothing] == [[], []]

    def test_a_part_of_a_term_is_enough_to_contain_it(self, tmp_path: Path) -> None:
        """Only in the body, inside what is allowed, and no more than k; what is no word is contained nowhere."""
        rows = {
            1: _body("0xdeadbeef"),
            2: _body("dead beef"),
            3: _body("xdeadbeefx"),
            4: Fields("deadbeef", "", "", ""),
        }
        store = self._built(tmp_path, rows)
        assert store.containing("deadbeef", 10) == [1, 3]
        assert store.containing("beef", 10, {2, 4}) == [2]
        assert len(store.containing("beef", 2)) == 2
        nothing = (("zzz", None), (".*", None), ("", None), ("beef", set[int]()))
        assert [store.containing(part, 10, allowed) for part, allowed in nothing] == [[]] * len(nothing)

    def test_names_the_chunks_with_a_part_of_a_word(self, tmp_path: Path) -> None:
        """After any number of changes, also for a second reader; each with the number of its file."""
        store, random = self.open(tmp_path), Random(34)
        assert (store.chunks_with([((WordPart("alp"),),)]), store.with_more_words()) == (None, None)
        rows: dict[int, Fields] = {}
        for generation in range(1, 2 * self.n_rounds + 1):
            removed = random.sample(range(40), random.randrange(4))
            rows = {key: fields for key, fields in rows.items() if key not in removed}
            texts = {random.randrange(40): f"{random.choice(_WORDS)}{random.randrange(99)}_x" for _ in range(3)}
            added = {key: Fields("", "", "", text, key % 7, key % 5 == 0) for key, text in texts.items()}
            rows |= added
            store.update((), removed)
            store.update(added.items(), ())
            store.commit(generation)
            for reader in (store, self.open(tmp_path)):
                with_more = {key: fields.file for key, fields in rows.items() if fields.has_more}
                assert reader.with_more_words() == with_more
                for part in (WordPart("alp"), WordPart("eta1"), WordPart("beta1", begins=True), WordPart("nothing")):
                    of_rows = {key: fields.file for key, fields in rows.items() if part.in_term.search(fields.body)}
                    assert dict(reader.chunks_with([((part,),)]) or {}) == of_rows
                both = WordPart("a"), WordPart("1")
                of_both = {key for key, fields in rows.items() if all(part.text in fields.body for part in both)}
                for needs in ([(both,)], [((part,),) for part in both], [((WordPart("nothing"),), both)]):
                    assert of_both <= (reader.chunks_with(needs) or {}).keys() <= rows.keys()
        assert store.damage() == ""

    def test_holds_what_was_written_last(self, tmp_path: Path) -> None:
        """After any sequence of additions, replacements and removals, also for a second reader."""
        random = Random(33)
        store = self.open(tmp_path)
        rows: dict[int, Fields] = {}
        for generation in range(1, self.n_rounds + 1):
            if random.random() < 0.15:
                store.clear()
                rows.clear()
            removed = random.sample(range(40), random.randrange(12))
            rows = {key: fields for key, fields in rows.items() if key not in removed}
            added = {random.randrange(40): _fields(random) for _ in range(random.randrange(10))}
            rows |= added
            store.update((), removed)
            store.update(added.items(), ())
            store.commit(generation)
            for reader in (store, self.open(tmp_path)):
                assert (reader.generation, reader.n_chunks, reader.damage()) == (generation, len(rows), "")
                for word in _WORDS:
                    with_word = {key for key, fields in rows.items() if word in fields.body.split()}
                    assert {key for key, _ in reader.search({word: 1.0}, 1_000, _BODY)} == with_word

    def test_counts_chunks_of_each_word(self, tmp_path: Path) -> None:
        """In bodies only, each chunk once."""
        store = self._built(tmp_path, {1: _body("alpha alpha beta"), 2: _body("alpha"), 3: Fields("beta", "", "", "x")})
        assert store.document_frequencies(["alpha", "beta", "gamma"]) == {"alpha": 2, "beta": 1, "gamma": 0}

    def test_changes_show_after_commit_only(self, tmp_path: Path) -> None:
        """Neither here nor elsewhere; another reader sees them once it reloads."""
        store = self._built(tmp_path, {1: _body("alpha")})
        reader = self.open(tmp_path)
        store.update([(2, _body("alpha"))], [1])
        assert _keys(store) == _keys(reader) == {1}
        store.commit(2)
        assert (_keys(store), _keys(reader)) == ({2}, {1})
        reader.reload()
        assert (reader.generation, _keys(reader)) == (2, {2})
        store.clear()
        store.update([(3, _body("alpha"))], ())
        assert (store.generation, _keys(self.open(tmp_path))) == (-1, {2})
        store.commit(3)
        assert _keys(self.open(tmp_path)) == {3}

    def test_abandoned_changes_do_not_come(self, tmp_path: Path) -> None:
        """Changes that were abandoned do not come with the next commit; a view to be built anew still is."""
        store = self._built(tmp_path, {1: _body("alpha")})
        store.update([(2, _body("alpha"))], [1])
        store.abandon()
        store.update([(3, _body("alpha"))], ())
        store.commit(2)
        assert _keys(store) == {1, 3}
        store.clear()
        store.update([(4, _body("alpha"))], ())
        store.abandon()
        assert store.generation == -1
        store.update([(5, _body("alpha"))], ())
        store.commit(3)
        assert _keys(store) == _keys(self.open(tmp_path)) == {5}

    def test_an_empty_view_has_a_generation(self, tmp_path: Path) -> None:
        """A project without any text is up to date, not broken; a generation may pass without a change."""
        self.open(tmp_path).commit(4)
        assert self.open(tmp_path).generation == 4
        self.open(tmp_path).commit(5)
        assert self.open(tmp_path).generation == 5

    def _built(self, folder: Path, rows: Mapping[int, Fields]) -> LexicalStore:
        store = self.open(folder)
        store.clear()
        store.update(rows.items(), ())
        store.commit(1)
        return store


_BODY = {"body": 1.0}


def _body(text: str) -> Fields:
    return Fields("", "", "", text)


def _fields(random: Random) -> Fields:
    path, name, signature, body = (" ".join(random.choices(_WORDS, k=random.randrange(8))) for _ in FIELDS)
    return Fields(path, name, signature, body)


def _keys(store: LexicalStore) -> set[int]:
    return {key for key, _ in store.search({"alpha": 1.0}, 100, _BODY)}


def _computed_plainly(
    rows: Mapping[int, Fields], words: Mapping[str, float], weights: Mapping[str, float]
) -> dict[int, float]:
    """Return the weighted sum over words and fields by key, as the formula says it."""
    scores: dict[int, float] = defaultdict(float)
    for place, field in enumerate(FIELDS):
        texts = {key: str(fields[place]).split() for key, fields in rows.items()}
        average = sum(map(len, texts.values())) / len(texts)
        for word, weight in words.items():
            n_with = sum(word in text for text in texts.values())
            rarity = math.log(1 + (len(texts) - n_with + 0.5) / (n_with + 0.5))
            for key, text in texts.items():
                count = text.count(word)
                if count and weights[field]:
                    length = 1 - _B + _B * len(text) / average
                    scores[key] += weights[field] * weight * rarity * count * (_K1 + 1) / (count + _K1 * length)
    return scores
