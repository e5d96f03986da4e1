"""Values that are found while indexing are stored nowhere, in no form; hits show the lines of the files."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.e2e.test_llm_index import LISTS
from tests.packed_texts import packed_texts, readable_bytes
from tests.protocols.server import serving
from tests.removing import remove_folder

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.config.settings import Settings
from codefathom.source.secrets import MASK
from codefathom.stores.packed_chunks import inflated
from codefathom.types import IndexReport, SearchResult

SIGNS = "aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fR"
# By the file they are planted in; none stands here whole.
VALUES = {
    "app/config.py": ["gh" + "p_" + SIGNS + "q7Zx", "Wq7" + "kLm2zPq9"],
    "deploy/.env": ["maple-" + "harbor", "plainworm"],
    "Keys.java": ["Tr0ub" + "4dorX9", "sk_" + "live_" + SIGNS[:24]],
    "main.tf": ["uG8xT2" + "vNq4Lw"],
    "key.pem": [SIGNS[::-1] * 2, SIGNS.swapcase() * 2],
    "README.md": ["curlPa" + "55word"],
    "compose.yml": ["pgR0" + "otWord7"],
}
FILES = {
    "app/config.py": (
        '"""How the warehouse service signs in."""\n\n\nGITHUB_TOKEN = "{0}"  # for releases\n\n\n'
        'def warehouse_login(db_password="{1}"):\n    """Open the warehouse, by default with {1}."""\n'
        "    return connect(db_password)\n"
    ),
    "deploy/.env": "WAREHOUSE_MODE={0}\nANYTHING='{1}'\n",
    "Keys.java": 'class Keys {{\n  void sign() {{\n    source.setPassword("{0}");\n    pay("{1}");\n  }}\n}}\n',
    "main.tf": 'variable "db_password" {{\n  type    = string\n  default = "{0}"\n}}\n',
    "key.pem": "-----BEGIN RSA PRIVATE KEY-----\n{0}\n{1}\n-----END RSA PRIVATE KEY-----\n",
    "README.md": "# Warehouse\n\n    curl -u admin:{0} https://warehouse.acme.io\n",
    "compose.yml": "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {0}\n",
}
ALL = [value for values in VALUES.values() for value in values]


def written(path: str) -> str:
    return FILES[path].format(*VALUES[path])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "user.toml"))
    root = tmp_path / "project"
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(written(path))
    (root / ".fathom").mkdir()
    return root


def forms(value: str) -> Iterator[bytes]:
    """Yield what a value may look like in a file: as it is, in lower case, in UTF-16, in base64 at any place."""
    for text in {value, value.lower()}:
        yield text.encode()
        yield text.encode("utf-16-le")
        yield text.encode("utf-16-be")
        for before in range(3):
            encoded = base64.b64encode(b"\0" * before + text.encode() + b"\0" * 3)
            # The outer signs hold bits of what stands around.
            yield encoded[before + 2 : -6]


def stored(*folders: Path) -> list[tuple[str, str]]:
    """Return (value, file) of every planted value that any file of the folders holds."""
    found = []
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert files
    for file in files:
        data = readable_bytes(file) + _unpacked(file)
        found += [(value, file.name) for value in ALL if any(form in data for form in forms(value))]
    return found


def _unpacked(file: Path) -> bytes:
    """Return what the cache keeps compressed."""
    import zlib

    if file.name.startswith("cache-") and file.suffix == ".db":
        with sqlite3.connect(file) as db:
            return b"".join(zlib.decompress(value) for (value,) in db.execute("SELECT value FROM parsed"))
    return b""


def index(root: Path, **settings: object) -> IndexReport:
    with Engine.open(str(root), settings=_settings(root, **settings)) as engine:
        return engine.index()


def _settings(root: Path, **given: object) -> Settings:
    return load_settings(str(root), overrides={key.replace("__", "."): value for key, value in given.items()})


def search(root: Path, query: str, **options: object) -> SearchResult:
    with Engine.open(str(root)) as engine:
        return engine.search(query, **options)  # type: ignore[arg-type]


def test_the_forms_are_seen(project: Path) -> None:
    (project / "plain").write_bytes(base64.b64encode(b"x" + ALL[0].encode() + b"yy"))
    assert {(ALL[0], "plain")} <= set(stored(project))


def test_an_index_keeps_no_value(project: Path, tmp_path: Path) -> None:
    index(project)
    assert stored(project / ".fathom", tmp_path / "cache") == []


def test_an_increment_keeps_no_value(project: Path, tmp_path: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        (project / "app/config.py").write_text("import os\n\n\n" + written("app/config.py"))
        engine.search("warehouse")
        os.rename(project / "Keys.java", project / "Signing.java")
        engine.index()
        shutil.copy(project / "deploy/.env", project / "new.env")
        stop = iter([False, True])
        assert list(engine.watch(lambda: next(stop, True), interval_s=0.01))
    assert stored(project / ".fathom", tmp_path / "cache") == []


def test_an_export_holds_no_value_and_an_import_keeps_none(project: Path, tmp_path: Path) -> None:
    for kind in ("jsonl", "index-json"):
        with Engine.open(str(project)) as engine:
            lines = list(engine.export(kind))
            assert not [value for value in ALL if value in "\n".join(lines)]
            assert engine.import_index(iter(lines), kind) == len(FILES)
    with Engine.open(str(project), settings=_settings(project, source__secrets="keep")) as engine:
        engine.index()
        open_lines = list(engine.export("jsonl"))
    assert any(value in line for value in ALL for line in open_lines)
    remove_folder(project / ".fathom")
    remove_folder(tmp_path / "cache")
    (project / ".fathom").mkdir()
    with Engine.open(str(project)) as engine:
        assert engine.import_index(iter(open_lines), "jsonl") == len(FILES)
    assert stored(project / ".fathom", tmp_path / "cache") == []


def test_what_was_kept_before_goes_without_a_trace(project: Path, tmp_path: Path) -> None:
    index(project, source__secrets="keep")
    assert {value for value, _ in stored(project / ".fathom")} == set(ALL)
    catalogue = project / ".fathom" / "catalog.db"
    secret = [
        packed
        for packed in packed_texts(catalogue)
        if any(form in inflated(packed) for value in ALL for form in forms(value))
    ]
    assert all(packed[:60] in catalogue.read_bytes() for packed in secret)
    report = index(project)
    assert len(report.changed) == len(FILES)
    assert stored(project / ".fathom") == []
    # Nor do free pages have them, where nothing is unpacked.
    left = b"".join(file.read_bytes() for file in (project / ".fathom").rglob("*") if file.is_file())
    assert secret
    assert not any(packed[:60] in left for packed in secret)


def test_a_parsing_model_sees_and_leaves_no_value(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(LISTS) as served:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, f"{served.base_url}/v1")
        settings = _settings(project, parse__chain="treesitter,llm,text", llm__model="openai:m", index__purposes="true")
        with Engine.open(str(project), settings=settings) as engine:
            engine.index()
        sent = json.dumps([asked.body for asked in served.asked])
        assert served.asked
    assert not [value for value in ALL if value in sent]
    assert stored(project / ".fathom", tmp_path / "cache") == []


@pytest.mark.parametrize("mode", ["lexical", "regex", "hybrid"])
def test_a_value_finds_nothing_and_its_name_its_line(project: Path, mode: str) -> None:
    index(project)
    by_name = search(project, "GITHUB_TOKEN", mode=mode)
    assert by_name.hits[0].chunk.path == "app/config.py"
    assert f'GITHUB_TOKEN = "{ALL[0]}"  # for releases' in by_name.hits[0].chunk.text
    for value in ALL if mode != "hybrid" else ():
        found = search(project, value, mode=mode).hits
        # Parts of one letter or digit may stand anywhere.
        assert not [hit for hit in found if mode == "regex" or value.lower() in hit.reason]


@pytest.mark.parametrize("level", ["chunk", "symbol", "file"])
def test_a_hit_shows_the_line_of_the_file(project: Path, level: str) -> None:
    index(project)
    (hit, *_) = search(project, "warehouse_login", level=level).hits
    lines = written("app/config.py").split("\n")
    assert (
        hit.chunk.text.rstrip("\n").split("\n")
        == "\n".join(lines).rstrip("\n").split("\n")[hit.chunk.start_line - 1 : hit.chunk.end_line]
    )
    assert VALUES["app/config.py"][1] in hit.chunk.text


def test_a_file_that_changed_shows_masks(project: Path) -> None:
    index(project)
    (project / "app/config.py").write_text("# new\n" + written("app/config.py"))
    with Engine.open(str(project), settings=_settings(project, search__refresh="never")) as engine:
        (hit, *_) = engine.search("GITHUB_TOKEN").hits
    assert ALL[0] not in hit.chunk.text
    assert f'GITHUB_TOKEN = "{MASK * len(ALL[0])}"  # for releases' in hit.chunk.text


def test_a_touched_file_shows_its_lines(project: Path) -> None:
    index(project)
    os.utime(project / "app/config.py", ns=(1, 1))
    with Engine.open(str(project), settings=_settings(project, search__refresh="never")) as engine:
        (hit, *_) = engine.search("GITHUB_TOKEN").hits
    assert ALL[0] in hit.chunk.text


def test_contexts_and_the_viewer_show_the_lines_of_the_files(project: Path) -> None:
    index(project)
    with Engine.open(str(project)) as engine:
        context = engine.context("GITHUB_TOKEN warehouse_login")
        shown = engine.files.lines("app/config.py")
    assert next(file for file in context.files if file.path == "app/config.py").text == written("app/config.py")
    assert shown.text == written("app/config.py")


def test_chunks_join_up_and_lines_are_those_of_the_file(project: Path) -> None:
    index(project)
    with Engine.open(str(project)) as engine:
        catalog = engine.opened.catalog
        for path in FILES:
            kept, text = catalog.text(path), written(path)
            assert len(kept) == len(text)
            assert all(sign in (MASK, other) for sign, other in zip(kept, text, strict=True))
            assert MASK in kept
        (symbol,) = catalog.symbols("warehouse_login")
    assert symbol.symbol.start_line == 7
    assert MASK in symbol.symbol.signature


def test_a_repository_may_tighten_and_never_loosen(project: Path, tmp_path: Path) -> None:
    (project / "fathom.toml").write_text('[source]\nsecrets = "keep"\n')
    settings = load_settings(str(project))
    assert settings.source.secrets == "mask"
    assert "keep" in settings.refused["source.secrets"]
    (project / "fathom.toml").write_text('[source]\nsecrets = "mask"\n')
    (tmp_path / "user.toml").write_text('[source]\nsecrets = "keep"\n')
    assert load_settings(str(project), user_file=str(tmp_path / "user.toml")).source.secrets == "mask"


def test_an_answer_cites_lines_with_secrets(project: Path) -> None:
    index(project)
    with Engine.open(str(project)) as engine:
        answer = engine.ask("how does warehouse_login get its db_password")
    assert [citation.path for citation in answer.citations if citation.path == "app/config.py"]
    assert not answer.dropped


def places(root: Path, **settings: object) -> dict[str, list[tuple[int, str]]]:
    with Engine.open(str(root), settings=_settings(root, **settings)) as engine:
        found: dict[str, list[tuple[int, str]]] = {}
        for item in engine.secrets():
            found.setdefault(item.path, []).append((item.line, item.kind))
    return found


@pytest.mark.parametrize("secrets", ["mask", "keep"])
def test_the_places_of_secrets_are_listed(project: Path, secrets: str) -> None:
    index(project, source__secrets=secrets)
    found = places(project, source__secrets=secrets)
    assert found["app/config.py"] == [(4, "GitHub token"), (7, "password"), (8, "password")]
    assert [line for line, _ in found["deploy/.env"]] == [1, 2]
    assert found["key.pem"][0] == (1, "private key")
    assert found["main.tf"] == [(3, "password")]
    assert set(found) == set(FILES)


def test_places_of_a_file_that_changed_are_those_of_the_index(project: Path) -> None:
    index(project)
    (project / "main.tf").unlink()
    assert places(project, search__refresh="never")["main.tf"] == [(3, "secret")]


def _texts(values: Iterable[object]) -> str:
    return json.dumps(list(map(str, values)))
