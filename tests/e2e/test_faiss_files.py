"""An export as FAISS files: plain `faiss` and `json` open it, and its texts come back."""

from __future__ import annotations

import json
from pathlib import Path

import faiss
import pytest
from tests.removing import remove_folder

from codefathom.cli import main
from codefathom.engine import Engine


def exported(shop: Path, folder: Path) -> dict[str, list[dict[str, object]]]:
    assert main(["export", "--as", "faiss", "-o", str(folder), "-q", "-C", str(shop)]) == 0
    metadata = json.loads((folder / "metadata.json").read_text())
    by_type = {kind: [chunk for chunk in metadata["chunks"] if chunk["type"] == kind] for kind in ("file", "function")}
    assert metadata["file_chunks"] == len(by_type["file"]) == metadata["total_files"]
    assert metadata["function_chunks"] == len(by_type["function"])
    assert metadata["total_chunks"] == metadata["file_chunks"] + metadata["function_chunks"]
    assert metadata["codebase_path"] == str(shop)
    return by_type


def test_plain_faiss_finds_what_the_rows_stand_for(shop: Path, tmp_path: Path) -> None:
    by_type = exported(shop, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "file_index.faiss",
        "function_index.faiss",
        "metadata.json",
    ]
    with Engine.open(str(shop)) as engine:
        catalog = engine.opened.catalog
        texts = {document.path: catalog.text(document.path) for document in catalog.documents()}
    for kind, chunks in by_type.items():
        index = faiss.read_index(str(tmp_path / "out" / f"{kind}_index.faiss"))
        assert index.ntotal == len(chunks)
        for number, chunk in enumerate(chunks):
            lines = texts[chunk["file_path"]].splitlines(keepends=True)
            assert chunk["content"] == "".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])
            row = index.reconstruct(number).reshape(1, -1)
            if not any(word.isalpha() for word in str(chunk["content"])):
                continue  # no word: a row of zeros
            assert (row @ row.T).item() == pytest.approx(1.0, abs=1e-5), chunk
            distances, numbers = index.search(row, 1)
            assert distances[0][0] == pytest.approx(0.0, abs=1e-5)
            assert chunks[numbers[0][0]]["file_path"] == chunk["file_path"]


def test_without_functions_the_old_index_does_not_stay(shop: Path, tmp_path: Path) -> None:
    assert exported(shop, tmp_path / "out")["function"]
    for path in shop.rglob("*"):
        if path.is_file() and path.name != "fathom.toml":
            path.unlink()
    (shop / "notes.txt").write_text("no functions here\n")
    assert exported(shop, tmp_path / "out")["function"] == []
    assert faiss.read_index(str(tmp_path / "out" / "function_index.faiss")).ntotal == 0


def test_the_texts_are_taken_over(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = exported(shop, tmp_path / "out")["file"]
    remove_folder(shop / ".fathom")
    changed = shop / str(files[0]["file_path"])
    changed.write_text("# another text\n" + changed.read_text())
    assert main(["import", "--as", "faiss", str(tmp_path / "out"), "-C", str(shop)]) == 0
    said = capsys.readouterr().err
    assert f"imported {len(files) - 1} documents" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "not the metadata"),
        ('{"chunks": 3}', "not the metadata"),
        ('{"chunks": [{"type": "file", "file_path": "../../x", "content": ""}]}', "outside the project"),
        ('{"chunks": [{"type": "file", "file_path": "x", "content": "\\ud800"}]}', "surrogate"),
    ],
)
def test_other_metadata_is_a_clear_error(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    (tmp_path / "metadata.json").write_text(content)
    assert main(["import", "--as", "faiss", str(tmp_path), "-C", str(shop)]) == 2
    assert said in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_said(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["export", "--as", "faiss", "-o", str(tmp_path / "file"), "-C", str(shop)]) == 2
    assert "cannot write into" in capsys.readouterr().err
    assert main(["export", "--as", "faiss", "-C", str(shop)]) == 2
    assert "--output" in capsys.readouterr().err
