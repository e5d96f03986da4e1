"""Types above those of a value are read for many names at a time, and kept: the answers are those of a new index."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pytest
from tests.counted import grow_older, two_projects
from tests.fresh_copy import fresh_copy

from codefathom import Engine
from codefathom.search.graph import type_words, value_types
from codefathom.search.graph.compiler_graph import CompilerGraph
from codefathom.stores import kept_file
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import CheckedText
from codefathom.types import FoundSymbol

FEW, MANY = 6, 60  # types
FILES = ("graph.types", "graph.values")


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    """The file is written also where little was read."""
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(type_words, "_ENOUGH", 1)
    monkeypatch.setattr(value_types, "_ENOUGH", 1)


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def part(number: int, bases: Collection[int]) -> str:
    """Return a type with a method that all others have, and a function that calls it on one of its values."""
    imports = "".join(f"from shop.part{base} import Part{base}\n" for base in bases)
    above = ", ".join(f"Part{base}" for base in bases)
    return (
        f"{imports}\n\nclass Part{number}({above}):\n    def run(self):\n        return super().run()\n\n\n"
        f"def use{number}(value: Part{number}):\n    return value.run()\n"
    )


def write_parts(folder: Path, n_types: int) -> None:
    """Write types of which each stands above the next one."""
    for number in range(n_types):
        write(folder, f"shop/part{number}.py", part(number, [number - 1] if number else []))


def answers(root: Path) -> list[object]:
    """Return the edges of all methods, in a process that has read nothing before."""
    with Engine.open(root) as engine:
        engine.index()
        names = sorted(item.path for item in engine.files.listed())
        targets = [f"{path} @@run" for path in names if path.startswith("shop/")]
        return [engine.related(target).edges for target in ("@@run", *targets)]


def answers_anew(root: Path) -> list[object]:
    """Return the answers of an index of a copy of the files, which is made for that."""
    return answers(fresh_copy(root))


def change(root: Path, chance: random.Random, number: int) -> None:
    """Give a type others above it, take one away, or add one; two files can define one name."""
    files = sorted((root / "shop").glob("part*.py"))
    kind = chance.choice(["bases", "bases", "remove", "add", "rename"])
    own = chance.randrange(FEW)
    if kind == "remove" and len(files) > 2:
        chance.choice(files).unlink()
    elif kind == "rename":
        file = chance.choice(files)
        file.rename(file.with_name(f"part_{number}.py"))
    else:
        bases = [base for base in range(FEW) if base != own and chance.random() < 0.3]
        write(root, f"shop/part{own if kind == 'bases' else f'_{number}'}.py", part(own, bases))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write_parts(folder, FEW)
    write(folder, "fathom.toml", "")
    grow_older(folder)
    return folder


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_any_changes_give_the_answers_of_a_new_index(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    with Engine.open(root) as living:  # brings up to date in memory what others take from the file
        living.index()
        living.related("@@run")
        for number in range(6):
            change(root, chance, number)
            grow_older(root)
            now = answers(root)
            living.index()
            assert now == answers_anew(root)
            assert living.related("@@run").edges == now[0]
    assert all((root / ".fathom" / file).exists() for file in FILES)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "another byte": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "another version": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(root: Path, damage: str, name: str) -> None:
    before = answers(root)
    file = root / ".fathom" / name
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert answers(root) == before
    assert file.read_bytes()[:48] == whole[:48]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_state_gives_the_types_of_now(root: Path, name: str) -> None:
    answers(root)
    file = root / ".fathom" / name
    earlier = file.read_bytes()
    write(root, "shop/part3.py", part(3, [0, 1]))
    write(root, "shop/part4.py", part(4, []))
    answers(root)
    file.write_bytes(earlier)
    assert answers(root) == answers_anew(root)


def test_many_types_are_read_together(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first question reads comes in as many steps as there are types above one, and not for each type."""
    few, many = two_projects(tmp_path_factory, (FEW, MANY), write_parts, lambda folder: None)
    counts = [n_statements(folder, monkeypatch) for folder in (few, many)]
    assert counts[1] <= counts[0] + 1, counts


def test_the_next_process_reads_no_type(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(root)
    assert n_statements(root, monkeypatch) == 0


def test_the_next_process_reads_no_text(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(root)
    monkeypatch.setattr(Catalog, "text", lambda *_: pytest.fail("a text is read again"))
    monkeypatch.setattr(Catalog, "lines", lambda *_: pytest.fail("a line is read again"))
    with monkeypatch.context() as patch, Engine.open(root) as engine:
        patch.setattr(Catalog, "texts", lambda *_: pytest.fail("texts are read again"))
        graph = CompilerGraph(engine.opened.catalog)
        assert graph.resolved_uses("run", "python")
    assert answers(root) == before


def test_after_a_change_only_the_text_of_the_changed_file_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(root)
    write(root, "shop/part3.py", part(3, [0, 1]))
    read: list[str] = []
    texts = Catalog.texts

    def noted(catalog: Catalog, paths: Sequence[str]) -> Iterator[CheckedText]:
        read.extend(paths)
        return texts(catalog, paths)

    with Engine.open(root) as engine:
        engine.index()
        monkeypatch.setattr(Catalog, "texts", noted)
        assert CompilerGraph(engine.opened.catalog).resolved_uses("run", "python")
    assert read == ["shop/part3.py"]


def n_statements(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often types are read for the calls of the method of one of them."""
    read, n = Catalog.types_named, 0

    def counted(catalog: Catalog, names: Collection[str]) -> list[FoundSymbol]:
        nonlocal n
        n += 1
        return read(catalog, names)

    with monkeypatch.context() as patch, Engine.open(folder) as engine:
        patch.setattr(Catalog, "types_named", counted)
        assert engine.related("shop/part2.py @@run").edges
    return n
