"""Grammars are machine code: what lies in a cache is compared before it is loaded, and a missing one is told."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import semble_grammars
from semble_grammars.loader import _platform_manifest
from semble_grammars.version import __version__ as grammar_version
from tests.waiting import LONG_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the trials are for Linux")

MANIFEST: dict[str, Any] = _platform_manifest()
PACKAGE = Path(semble_grammars.__file__).parent
PARTS = ("semble", "grammars", grammar_version, MANIFEST["platform"])
SOURCES = {
    "a.py": "class Shop:\n    def retry(self):\n        return 1\n",
    "b.go": "package b\n\nfunc Retry() int { return 1 }\n",
    "c.vue": "<script>\nexport function retryPage() { return 1 }\n</script>\n",
}
SYMBOLS = {"Shop", "retry", "Retry", "retryPage", "c"}
COMPILER = shutil.which("cc") or shutil.which("gcc")


def library(language: str) -> str:
    return str(MANIFEST["languages"][language]["file"])


def has_right_bytes(path: Path, language: str) -> bool:
    return hashlib.sha256(path.read_bytes()).hexdigest() == MANIFEST["languages"][language]["sha256"]


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries of the package, as a cache holds them."""
    folder = tmp_path_factory.mktemp("libraries")
    with tarfile.open(PACKAGE / "grammars" / MANIFEST["platform"] / MANIFEST["archive"]) as archive:
        for language in ("python", "go", "vue", "javascript"):
            archive.extract(library(language), folder, filter="data")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / ".git").mkdir(parents=True)
    for name, text in SOURCES.items():
        (root / name).write_text(text)
    return root


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(root: Path, tmp_path: Path) -> Run:
    """Run fathom in the checkout as a user whose cache lies in it; more variables come by name, None removes one."""
    own = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(root / ".cache"), "TMPDIR": str(tmp_path / "tmp")}
    own |= {"FATHOM_CONFIG": os.devnull, "FATHOM_CACHE_DIR": str(tmp_path / "own"), "PYTHONFAULTHANDLER": "1"}
    (tmp_path / "tmp").mkdir()
    before = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_", "SEMBLE_"))}

    def run(
        *words: str, is_script: bool = False, text_in: str = "", **variables: str | None
    ) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in {**before, **own, **variables}.items() if value is not None}
        command = [sys.executable, "-P", *(("-c",) if is_script else ("-m", "codefathom")), *words]
        return subprocess.run(
            command,
            cwd=root,
            env=environment,
            input=text_in,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG_S,
        )

    return run


def names(run: Run, **variables: str | None) -> set[str]:
    """Index, and return the names of all symbols."""
    indexed = run("index", **variables)
    assert indexed.returncode == 0, indexed
    listed = run("symbols", "--json", "-n", "50", **variables)
    assert listed.returncode == 0, listed
    return {symbol["name"] for symbol in json.loads(listed.stdout)["symbols"]}


_PARSE = """
import json, sys
from codefathom.parse import parse
from codefathom.types import Document

documents = [Document(path, language, text, "1:0", len(text)) for path, language, text in json.load(sys.stdin)]
print(json.dumps([symbol.name for document in documents for symbol in parse(document).symbols]))
"""


@pytest.fixture
def parsed(run: Run) -> Callable[..., set[str]]:
    """Parse the sources in a process, and return the names of all symbols: most of these trials need no index."""
    languages = {".py": "python", ".go": "go", ".vue": "vue"}
    sources = json.dumps([(name, languages[Path(name).suffix], text) for name, text in SOURCES.items()])

    def parsed(**variables: str | None) -> set[str]:
        ran = run(_PARSE, is_script=True, text_in=sources, **variables)
        assert ran.returncode == 0, ran.stderr
        return set(json.loads(ran.stdout))

    return parsed


# ---- what lies in the cache


def plant_machine_code(place: Path, extracted: Path) -> None:
    """A library of a stranger that would write a file when it is loaded."""
    if COMPILER is None:
        pytest.skip("there is no C compiler here; the other rows need none")
    source = place.with_suffix(".c")
    harm = place.parent.parent / "harm"
    source.write_text(
        "#include <stdio.h>\n"
        f'__attribute__((constructor)) static void harm(void) {{ FILE *f = fopen("{harm}", "w"); if (f) fclose(f); }}\n'
        "const void *tree_sitter_python(void) { return 0; }\n"
    )
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(place), str(source)], check=True, timeout=LONG_S)
    source.unlink()


def plant_other_grammar(place: Path, extracted: Path) -> None:
    shutil.copy(extracted / library("go"), place)


def plant_changed_byte(place: Path, extracted: Path) -> None:
    data = bytearray((extracted / library("python")).read_bytes())
    data[len(data) // 2] ^= 1
    place.write_bytes(data)


def plant_half(place: Path, extracted: Path) -> None:
    data = (extracted / library("python")).read_bytes()
    place.write_bytes(data[: len(data) // 2])


def plant_nothing(place: Path, extracted: Path) -> None:
    place.touch()


def plant_zeros(place: Path, extracted: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 34)


def plant_folder(place: Path, extracted: Path) -> None:
    place.mkdir()


def plant_pipe(place: Path, extracted: Path) -> None:
    os.mkfifo(place)


def plant_link(place: Path, extracted: Path) -> None:
    place.symlink_to(extracted / library("go"))


PLANTS = [
    plant_machine_code, plant_other_grammar, plant_changed_byte, plant_half, plant_nothing, plant_zeros, plant_folder,
    plant_pipe, plant_link,
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_only_code_of_the_package_is_loaded(
    root: Path, parsed: Callable[..., set[str]], extracted: Path, plant: Callable[[Path, Path], None]
) -> None:
    cache = root.joinpath(".cache", *PARTS)
    cache.mkdir(parents=True)
    plant(cache / library("python"), extracted)
    before = {path.name: path.read_bytes() for path in extracted.iterdir()}
    assert parsed() == SYMBOLS
    assert list(root.rglob("harm")) == []
    assert has_right_bytes(cache / library("python"), "python")  # taken out anew
    assert not (cache / library("python")).is_symlink()
    assert {path.name: path.read_bytes() for path in extracted.iterdir()} == before


@pytest.mark.parametrize("depth", range(len(PARTS)))
def test_no_link_in_a_cache_is_followed(
    root: Path, tmp_path: Path, parsed: Callable[..., set[str]], depth: int
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = root.joinpath(".cache", *PARTS[: depth + 1])
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    assert parsed() == SYMBOLS
    assert list(outside.rglob("*")) == []


def test_an_index_needs_no_cache(root: Path, run: Run) -> None:
    places = {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "XDG_STATE_HOME": f"{root}/../state"}
    assert names(run, **places) == SYMBOLS
    assert "up to date  yes" in run("status", **places).stdout


def unwritable() -> Iterator[tuple[str, dict[str, str | None]]]:
    """Places in which nobody can write, not even root, for whom no mode counts."""
    yield "a file", {"XDG_CACHE_HOME": "FILE", "HOME": "FILE"}
    yield "below a file", {"XDG_CACHE_HOME": "FILE/cache", "HOME": "FILE/home"}
    yield "proc", {"XDG_CACHE_HOME": "/proc/none", "HOME": "/proc/none"}
    yield "home alone", {"XDG_CACHE_HOME": None, "HOME": "/proc/none"}
    yield "its own variable", {"SEMBLE_GRAMMARS_CACHE_DIR": "/proc/none/grammars"}
    yield "relative", {"XDG_CACHE_HOME": None, "HOME": None, "SEMBLE_GRAMMARS_CACHE_DIR": "grammars"}


@pytest.mark.parametrize(("place", "variables"), list(unwritable()))
def test_without_a_cache_all_is_parsed(
    root: Path, tmp_path: Path, parsed: Callable[..., set[str]], place: str, variables: dict[str, str | None]
) -> None:
    file = tmp_path / "file"
    file.touch()
    placed = {name: value and value.replace("FILE", str(file)) for name, value in variables.items()}
    assert parsed(**placed) == SYMBOLS
    assert list((tmp_path / "tmp").iterdir()) == []  # nothing is left of what was loaded
    assert not (root / "grammars").exists()


_CHANGED_UNDER_IT = """
import sys
from codefathom.parse import parse
from codefathom.types import Document

def count(n):
    text = "".join(f"def f{i}(a):\\n    return [a, {hash(str(i))}, {{'x': f'{{a}}'}}, lambda: a]\\n" for i in range(n))
    return len(parse(Document("a.py", "python", text, "1:0", len(text))).symbols)

assert count(1) == 1
with open(sys.argv[1], "r+b") as file:
    file.truncate(0)
print(count(3000))
"""


def test_a_library_that_is_changed_while_it_is_used_harms_nobody(tmp_path: Path, extracted: Path) -> None:
    """Two users who share a cache, or a cache that a job of CI unpacks over the one in use."""
    cache = tmp_path.joinpath(*PARTS)
    shutil.copytree(extracted, cache)
    ran = subprocess.run(
        [sys.executable, "-c", _CHANGED_UNDER_IT, str(cache / library("python"))],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "SEMBLE_GRAMMARS_CACHE_DIR": ""}, check=False,
        capture_output=True, text=True, timeout=LONG_S,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "3000\n"), ran.stderr


# ---- a grammar that cannot be loaded


@pytest.fixture
def broken_package(tmp_path: Path) -> str:
    """A folder for PYTHONPATH with the package of grammars, of which the archive is damaged."""
    copy = tmp_path / "site" / "semble_grammars"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("licenses", "__pycache__"))
    archive = copy / "grammars" / MANIFEST["platform"] / MANIFEST["archive"]
    archive.write_bytes(archive.read_bytes()[:1000])
    return str(copy.parent)


def test_a_missing_grammar_is_told_and_made_good(root: Path, run: Run, broken_package: str) -> None:
    before = run("index", PYTHONPATH=broken_package)
    assert before.returncode == 2, before
    for language in ("python", "go", "vue"):
        assert f"the grammar of {language} cannot be loaded" in before.stdout
    again = run("index", "--json", PYTHONPATH=broken_package)
    assert again.returncode == 2
    assert len(json.loads(again.stdout)["missing_grammars"]) == 3
    quiet = run("index", "-q", PYTHONPATH=broken_package)
    assert (quiet.returncode, quiet.stdout) == (2, "")
    assert "the grammar of go cannot be loaded" in quiet.stderr

    hits = json.loads(run("search", "Shop", "--json", PYTHONPATH=broken_package).stdout)
    assert hits["hits"][0]["path"] == "a.py"  # what was indexed stays
    assert any("python" in sentence for sentence in hits["degraded"])
    status = run("status", PYTHONPATH=broken_package)
    assert "up to date  no: the grammar of go cannot be loaded" in status.stdout
    assert len(json.loads(run("status", "--json", PYTHONPATH=broken_package).stdout)["damage"]) == 3

    symbols = run("symbols", "--json", "-n", "50")  # as soon as it can be loaded, with no `index` between
    assert {symbol["name"] for symbol in json.loads(symbols.stdout)["symbols"]} == SYMBOLS
    assert names(run) == SYMBOLS
    assert "up to date  yes" in run("status").stdout
    assert json.loads(run("search", "Shop", "--json").stdout)["degraded"] == []


def test_a_grammar_that_is_gone_later_is_told_of_new_files_only(root: Path, run: Run, broken_package: str) -> None:
    assert names(run) == SYMBOLS
    shutil.rmtree(root / ".cache")
    (root / "d.go").write_text("package d\n\nfunc Late() {}\n")
    after = run("index", PYTHONPATH=broken_package)
    assert after.returncode == 2
    assert "1 files with go are indexed as text" in after.stdout
    assert names(run) == {*SYMBOLS, "Late"}


def test_code_inside_of_a_page_counts_as_well(root: Path, run: Run, tmp_path: Path) -> None:
    """The grammar of the page is there, that of the script in it is not."""
    copy = tmp_path / "site" / "semble_grammars"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("licenses", "__pycache__"))
    listed = copy / "grammars" / MANIFEST["platform"] / "manifest.json"
    content = json.loads(listed.read_text())
    del content["languages"]["javascript"]
    listed.write_text(json.dumps(content))
    before = run("index", PYTHONPATH=str(copy.parent))
    assert before.returncode == 2
    assert "the grammar of javascript cannot be loaded" in before.stdout
    assert "python cannot" not in before.stdout
    assert names(run) == SYMBOLS
