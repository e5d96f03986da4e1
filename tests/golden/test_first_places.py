"""The place that a person means, in a small warehouse written for this: tests/repos/depot."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.types import Hit

DEPOT = Path(__file__).parents[1] / "repos" / "depot"


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The warehouse, indexed."""
    folder = tmp_path_factory.mktemp("first") / "depot"
    shutil.copytree(DEPOT, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with Engine.open(str(folder)) as engine:
            yield engine


def first(depot: Engine, question: str, level: str = "chunk") -> Hit:
    return depot.search(question, level=level, limit=1).hits[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "path", "head"),
    [
        ("Crate", "java/Crate.java", "public final class Crate {"),  # below a comment that fills chunks; constructors
        ("Parcel", "java/Parcel.java", "public class Parcel {"),
        ("Label", "csharp/Label.cs", "public class Label\n"),  # in a namespace, and beside a property, of its name
        ("Pallet", "cpp/pallet.h", "class Pallet {"),  # constructors in the source file, and an alias
        ("Ledger", "py/depot/ledger.py", "class Ledger:"),  # exported again, and a heading
    ],
)
def test_the_name_of_a_type_finds_its_head(depot: Engine, name: str, path: str, head: str) -> None:
    for level in ("chunk", "symbol"):
        hit = first(depot, name, level)
        assert (hit.chunk.path, head in hit.chunk.text) == (path, True), level
    assert (hit.chunk.kind, hit.chunk.symbol.rpartition(".")[2]) == ("class", name)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("saving", "py/depot/book.py"),
        ("parsing", "py/depot/parser.py"),
        ("logging", "py/depot/log.py"),
    ],
)
def test_another_form_of_a_word_finds_the_same(depot: Engine, question: str, path: str) -> None:
    assert first(depot, question).chunk.path == path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("count crates on shelves", "py/depot/counting.py"),
        ("count_crates", "py/depot/counting.py"),
        ("legacy count crates", "py/depot/legacy/counting.py"),
        ("package weigh", "api/v2/weigh.go"),
        ("Weigh", "api/v2/weigh.go"),
        ("weigh a crate in v1", "api/v1/weigh.go"),
    ],
)
def test_the_living_copy_comes_before_an_older_one_unless_that_is_asked_for(
    depot: Engine, question: str, path: str
) -> None:
    assert first(depot, question).chunk.path == path


def test_a_document_of_the_name_does_not_come_before_the_code(depot: Engine) -> None:
    assert first(depot, "timber planks").chunk.path == "py/depot/timber.py"


@pytest.mark.parametrize("question", ["closing brackets", "end of block", "javascript callback"])
def test_a_chunk_of_brackets_does_not_win_on_meaning(depot: Engine, question: str) -> None:
    """The smallest chunks are near to many questions by chance."""
    by_meaning = [hit.chunk.path for hit in depot.search(question, mode="vector", limit=3).hits]
    assert "web/gate.js" in by_meaning
    assert first(depot, question).chunk.path != "web/gate.js"


# ---- a harbour, made by the test: four modules in C, one file made of them, tables, translations and pages

_MODULES = {
    "winch": ("lift_load", "Raise a load with the winch until the switch opens."),
    "buoy": ("read_depth", "Read the depth of the water from the buoy."),
    "anchor": ("drop_anchor", "Let the anchor fall and count the chain links."),
    "rudder": ("turn_rudder", "Turn the rudder to an angle of thirty degrees."),
}
_BODY = """
/* {about} */
int {function}(struct {module} *self, int amount)
{{
    int total = 0;
    while (total < amount && !self->is_at_limit) {{
        total += {module}_step(self);
        if (self->failed_steps > 3) {{
            {module}_alarm(self, "too many failed steps");
            return -1;
        }}
    }}
    return total;
}}

/* One step of the {module}; counts a failed one. */
int {module}_step(struct {module} *self)
{{
    if (!self->power) {{
        self->failed_steps++;
        return 0;
    }}
    self->position += self->stride;
    return self->stride;
}}
"""
_STATION = "/* station {n} */\nint harbour_station_{n}(int tide)\n{{\n    return tide * {n} + 1;\n}}\n\n"


def _harbour() -> dict[str, str]:
    """Return the files of the harbour by path."""
    bodies = {
        module: _BODY.format(module=module, function=function, about=about)
        for module, (function, about) in _MODULES.items()
    }
    words = ("price", "print", "fare", "child", "zone", "next", "ferry")
    numbers = (", ".join(f"{(row * n) % 400 / 100}" for n in range(1, 12)) for row in range(1, 80))
    return {
        **{f"src/{module}.c": f'#include "{module}.h"\n{body}' for module, body in bodies.items()},
        "src/winch.h": f"/* {_MODULES['winch'][1]} */\nint lift_load(struct winch *self, int amount);\n",
        "harbour.c": "".join(bodies.values()) + "".join(_STATION.format(n=n) for n in range(300)),
        **{
            f"docs/api/{module}.html": f"<h1>{module}.c File Reference</h1><p>{about}</p><code>{function}</code>\n"
            for module, (function, about) in _MODULES.items()
        },
        "tides.py": "def tide_height(minutes):\n    phase = minutes % 745 / 745\n    return 2.1 * cos(phase * 6.283)\n",
        "tide_table.py": "".join(("TIDE_HEIGHTS = [\n", *(f"    {row},  # tide height\n" for row in numbers), "]\n")),
        "web/ticket.ts": "export function printTicket(fare: number): string {\n  return `ticket ${fare}`;\n}\n",
        "ios/Gate.swift": "class Gate {\n    func unlock(code: String) -> Bool {\n        code == stored\n    }\n}\n",
        **{
            f"ios/{language}.lproj/Localizable.strings": "/* Unlock the gate with a code */\n"
            '"Unlock the gate with a code" = "…";\n'
            for language in ("en", "fr", "id")
        },
        "quay/main.tf": 'resource "quay_crane" "this" {\n  name = var.crane_name\n  load = var.crane_load\n}\n',
        "quay/variables.tf": 'variable "crane_name" {\n  description = "Name of the crane of the quay"\n}\n\n'
        'variable "crane_load" {\n  description = "Load of the crane of the quay, in tons"\n}\n',
        "quay/outputs.tf": 'output "crane" {\n  description = "The crane of the quay"\n  value = quay_crane.this\n}\n',
        "web/locale/fr.json": "{\n" + ",\n".join(f'  "ticket.{word}": "imprimer {word}"' for word in words) + "\n}\n",
    }


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The harbour, indexed."""
    folder = tmp_path_factory.mktemp("harbour")
    for path, text in _harbour().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with Engine.open(str(folder)) as engine:
            yield engine


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("lift_load", "src/winch.c"),
        ("read the depth of the water", "src/buoy.c"),
        ("harbour one step of the buoy", "src/buoy.c"),
        ("turn the rudder to an angle", "src/rudder.c"),
        ("harbour station 7", "harbour.c"),  # stands there alone
    ],
)
def test_a_file_made_of_others_comes_after_them(harbour: Engine, question: str, path: str) -> None:
    assert first(harbour, question).chunk.path == path


def test_generated_pages_come_after_the_code(harbour: Engine) -> None:
    found = [hit.chunk.path for hit in harbour.search("raise a load with the winch", limit=5).hits]
    assert found[:2] == ["src/winch.c", "src/winch.h"]
    assert "docs/api/winch.html" in found


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("tide height", "tides.py"),
        ("print ticket", "web/ticket.ts"),
        ("TIDE_HEIGHTS", "tide_table.py"),
        ("unlock the gate with a code", "ios/Gate.swift"),
    ],
)
def test_data_comes_after_the_code(harbour: Engine, question: str, path: str) -> None:
    assert first(harbour, question).chunk.path == path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("crane of the quay", "quay/main.tf"),
        ("variable for the load of the crane", "quay/variables.tf"),
        ("outputs of the quay", "quay/outputs.tf"),
    ],
)
def test_what_terraform_makes_comes_before_its_variables_and_outputs(harbour: Engine, question: str, path: str) -> None:
    assert first(harbour, question).chunk.path == path


def test_the_name_of_the_project_does_not_bring_its_file_to_the_front(tmp_path: Path) -> None:
    project = tmp_path / "ferry"
    project.mkdir()
    steps = "".join(f"def ferry_step_{n}(ferry):\n    return ferry.run({n})\n\n\n" for n in range(80))
    (project / "ferry.py").write_text(f'"""The ferry: loading, mooring, and all of it."""\n\n\n{steps}')
    (project / "mooring.py").write_text('"""Tie up at the pier."""\n\n\ndef moor(ropes):\n    return [*ropes]\n')
    with Engine.open(str(project)) as engine:
        assert first(engine, "how is the ferry tied up at a pier").chunk.path == "mooring.py"
