"""Documents beside the code, from the command line and over HTTP: sound, changed, broken, and without their extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.documents import LOCKED, code, notebook, pdf, prose, with_part, word
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.stores.catalog.catalog import CATALOGUE

PROGRAM = "import sys; from codefathom.cli import main; sys.exit(main(sys.argv[1:]))"
WITHOUT = "import sys; sys.modules['pypdfium2'] = sys.modules['docx'] = None; " + PROGRAM  # as if not installed
FILLING = "\n".join(f"Line {number} tells nothing of interest." for number in range(45))
PDF = pdf([FILLING, f"{FILLING}\nThe broker retries seventeen times.", FILLING])
WORD = word(
    "Preface", (1, "Design"), "Text", (2, "Limits"), "The quota of a tenant is forty gigabytes.", [["burst", "90"]]
)
NOTEBOOK = notebook(prose("# Harvest"), code("import os\n\ndef load_harvest(path):\n    return os.stat(path)\n"))
HTML = (
    "<html><body>\n<h1>Install</h1>\n<p>Put the <b>widget</b> on the shelf.</p>\n"
    "<h2>Removal of widgets</h2>\n<p>Go.</p>\n"
)


def fathom(root: Path, *words: str, program: str = PROGRAM, status: int = 0) -> str:
    command = [sys.executable, "-c", program, *words]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert ran.returncode == status, (ran.stdout, ran.stderr)
    return ran.stdout


def hits(root: Path, question: str, **options: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(fathom(root, "search", "--json", question, **options))["hits"]
    return listed


def skipped(root: Path, program: str = PROGRAM) -> dict[str, str]:
    lines = fathom(root, "status", "--skipped", program=program).splitlines()
    return {line.partition("  ")[0]: line.partition("  ")[2] for line in lines}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    root = tmp_path / "project"
    root.mkdir()
    (root / "fathom.toml").touch()
    (root / "main.py").write_text("def main():\n    return 1\n")
    return root


@pytest.fixture
def documents(project: Path) -> Path:
    (project / "paper.pdf").write_bytes(PDF)
    (project / "design.docx").write_bytes(WORD)
    (project / "study.ipynb").write_bytes(NOTEBOOK)
    (project / "guide.html").write_text(HTML)
    return project


QUESTIONS = [
    ("how often does the broker retry", "paper.pdf", "page 2"),
    ("quota of a tenant", "design.docx", 'heading "Limits"'),
    ("load_harvest", "study.ipynb", "cell 2"),
    ("removal of widgets", "guide.html", ""),
]


@pytest.mark.parametrize(("question", "path", "place"), QUESTIONS)
def test_a_document_is_found_with_its_place(documents: Path, question: str, path: str, place: str) -> None:
    first = hits(documents, question)[0]
    assert (first["path"], first["place"]) == (path, place)
    shown = fathom(documents, "search", "-n", "1", question).splitlines()[0]
    assert shown.startswith(f"{path}:{first['start_line']}-{first['end_line']}" + (f", {place}" if place else ""))


def test_a_citation_names_the_page_and_stands_in_the_text(documents: Path) -> None:
    answer = json.loads(fathom(documents, "ask", "--json", "how often does the broker retry"))
    assert answer["verified_share"] == 1.0
    first = answer["citations"][0]
    assert (first["path"], first["place"]) == ("paper.pdf", "page 2")
    assert answer["sources"][0]["place"] == "page 2"
    assert "seventeen" in answer["answer"]


def test_the_lines_of_a_page_are_those_of_its_file(documents: Path) -> None:
    first = hits(documents, "removal of widgets")[0]
    lines = HTML.split("\n")[first["start_line"] - 1 : first["end_line"]]
    assert first["content"].removesuffix("\n") == "\n".join(lines).removesuffix("\n")
    assert "Removal of widgets" in first["name"]


def test_definitions_of_a_notebook_are_symbols(documents: Path) -> None:
    listed = json.loads(fathom(documents, "symbols", "--json", "load_harvest"))["symbols"]
    assert [(item["path"], item["kind"]) for item in listed] == [("study.ipynb", "function")]


def test_a_document_has_a_language_and_its_marks_stand_in_a_context(documents: Path) -> None:
    assert {hit["path"] for hit in hits(documents, "lang:pdf broker retry")} == {"paper.pdf"}
    context = fathom(documents, "context", "how often does the broker retry")
    assert "[page 2]" in context


@pytest.mark.parametrize(
    ("path", "data", "question", "place"),
    [
        ("paper.pdf", pdf([FILLING, FILLING, f"{FILLING}\nA zebra lives here."]), "zebra", "page 3"),
        ("design.docx", word((1, "Animals"), "A zebra lives here."), "zebra", 'heading "Animals"'),
        ("study.ipynb", notebook(prose("x"), prose("y"), prose("A zebra lives here.")), "zebra", "cell 3"),
    ],
)
def test_a_changed_document_is_taken_in_again(
    documents: Path, path: str, data: bytes, question: str, place: str
) -> None:
    fathom(documents, "index")
    before = (documents / path).stat()
    (documents / path).write_bytes(data)
    os.utime(documents / path, ns=(before.st_atime_ns, before.st_mtime_ns + 10_000_000_000))
    first = hits(documents, question)[0]
    assert (first["path"], first["place"], first["stale"]) == (path, place, False)
    assert not [
        hit for hit in hits(documents, "seventeen gigabytes") if hit["path"] == path and "retries" in hit["content"]
    ]


def test_a_citation_of_a_document_that_changed_meanwhile_is_checked_against_it(
    documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines moved to another page: that page is named, of the text that the file has now."""
    fathom(documents, "index")
    monkeypatch.setenv("FATHOM_SEARCH__REFRESH", "never")
    (documents / "paper.pdf").write_bytes(
        pdf(["New", FILLING, f"{FILLING}\nThe broker retries seventeen times.", FILLING])
    )
    answer = json.loads(fathom(documents, "ask", "--json", "how often does the broker retry"))
    held = [item for item in answer["citations"] if item["path"] == "paper.pdf"]
    assert [item["place"] for item in held] == ["page 3"]
    (documents / "paper.pdf").write_bytes(b"%PDF-1.4 broken now")
    answer = json.loads(fathom(documents, "ask", "--json", "how often does the broker retry"))
    assert [item for item in answer["citations"] if item["path"] == "paper.pdf"] == []
    assert answer["dropped_citations"]


BROKEN = [
    ("a.pdf", b"%PDF-1.4 broken", "broken PDF"),
    ("b.pdf", pdf(["One"], trailer=LOCKED), "encrypted with a password"),
    ("c.pdf", pdf([""]), "a PDF without text; its pages may be pictures"),
    ("d.docx", b"PK\x03\x04 broken", "broken Word document"),
    ("e.docx", with_part(WORD, "x.bin", bytes(30_000_000)), "an archive that is much too large when it is unpacked"),
    ("f.ipynb", b"{", "broken notebook"),
    ("g.doc", b"\xd0\xcf\x11\xe0", "the format of Word before 2007 is not read; save it as .docx"),
]


def test_broken_documents_are_listed_and_harm_nothing(documents: Path) -> None:
    for path, data, _ in BROKEN:
        (documents / path).write_bytes(data)
    fathom(documents, "index")
    assert skipped(documents) == {path: reason for path, _, reason in BROKEN}
    assert hits(documents, QUESTIONS[0][0])[0]["path"] == "paper.pdf"
    assert "nothing to do" not in fathom(documents, "index", "--full")
    (documents / "a.pdf").write_bytes(pdf(["A zebra lives here."]))
    assert hits(documents, "zebra")[0]["path"] == "a.pdf"
    (documents / "paper.pdf").write_bytes(b"%PDF-1.4 broken now")
    fathom(documents, "index")
    assert skipped(documents)["paper.pdf"] == "broken PDF"
    assert "paper.pdf" not in fathom(documents, "files")


def test_without_the_extra_the_documents_are_listed_with_the_remedy(documents: Path) -> None:
    fathom(documents, "index", program=WITHOUT)
    reason = "needs the extra `documents`: pip install 'codefathom[documents]'"
    assert skipped(documents, WITHOUT) == {"design.docx": reason, "paper.pdf": reason}
    assert "extra documents" in fathom(documents, "doctor", program=WITHOUT)
    assert hits(documents, "load_harvest")[0]["path"] == "study.ipynb"
    # The next run with the extra takes them in, though neither of them has changed.
    assert hits(documents, QUESTIONS[0][0])[0]["path"] == "paper.pdf"
    assert skipped(documents) == {}
    # And without it they stay what they are.
    fathom(documents, "index", program=WITHOUT)
    assert "paper.pdf" in fathom(documents, "files", program=WITHOUT)


def test_another_version_of_the_extraction_reads_documents_again(documents: Path) -> None:
    fathom(documents, "index")
    with Engine.open(str(documents)) as engine:
        entries = engine.opened.catalog.entries()
        assert {path for path, entry in entries.items() if entry.parser.endswith(" extracted/1")} == {
            "paper.pdf", "design.docx", "study.ipynb",
        }  # fmt: skip
    other = "import codefathom.versions; codefathom.versions.EXTRACTION_VERSION = '2'; " + PROGRAM
    assert "3 changed" in fathom(documents, "index", program=other)
    assert "unchanged" in fathom(documents, "index", program=other)


def test_documents_have_a_limit_of_their_own(documents: Path) -> None:
    (documents / "fathom.toml").write_text("[source]\nmax_document_bytes = 1000\n")
    (documents / "main.py").write_text("def main():\n    return 1\n" * 100)
    fathom(documents, "index")
    assert skipped(documents) == {"design.docx": "oversized", "paper.pdf": "oversized"}
    (documents / "fathom.toml").write_text("[source]\nmax_file_bytes = 1000\n")
    fathom(documents, "index")
    assert skipped(documents) == {"main.py": "oversized"}


def test_a_large_document_is_no_large_file(project: Path) -> None:
    """Above the size from which files are read in windows, of which a PDF has none."""
    (project / "large.pdf").write_bytes(PDF + b"%" + b" " * 5_000_000 + b"\n")
    (project / "large.ipynb").write_bytes(NOTEBOOK + b" " * 5_000_000)
    (project / "fathom.toml").write_text("[index]\nworkers = 2\n")
    fathom(project, "index")
    assert skipped(project) == {}
    assert hits(project, QUESTIONS[0][0])[0]["place"] == "page 2"
    assert hits(project, "load_harvest")[0]["path"] == "large.ipynb"


def test_a_secret_in_a_document_is_masked_in_the_index_and_shown_from_the_file(project: Path) -> None:
    value = "wJalrXUtnFEMI7K7MDENGbPxRfiCYzzzzzzzKEY"
    (project / "keys.docx").write_bytes(
        word((1, "Access"), f'aws_secret_access_key = "{value}"', "of the zebra bucket")
    )
    fathom(project, "index")
    with Engine.open(str(project)) as engine:
        assert value not in engine.opened.catalog.text("keys.docx")
        assert value in engine.files.lines("keys.docx").text
        folder = Path(engine.opened.place.index_dir)
    assert (folder / CATALOGUE).is_file()
    assert [file for file in folder.rglob("*") if file.is_file() and value.encode() in file.read_bytes()] == []
    assert value in hits(project, "zebra bucket")[0]["content"]


@pytest.fixture
def texts(documents: Path) -> Iterator[Engine]:
    with Engine.open(str(documents)) as engine:
        engine.index()
        yield engine


def test_the_viewer_is_given_the_text_with_its_pages(texts: Engine) -> None:
    lines = texts.files.lines("paper.pdf")
    assert lines.text.startswith("[page 1]\nLine 0 ")
    assert [line for line in lines.text.split("\n") if line.startswith("[")] == ["[page 1]", "[page 2]", "[page 3]"]
    assert lines.file.language == "pdf"
    assert texts.files.lines("paper.pdf", lines.end_line, 0).text == lines.text.split("\n")[lines.end_line - 1] + "\n"


def test_chunks_join_up_to_the_extracted_text(texts: Engine) -> None:
    for path in ("paper.pdf", "design.docx", "study.ipynb"):
        pieces = [chunk.text for _, chunk in texts.opened.catalog.chunks_of(path)]
        assert "".join(pieces) == texts.opened.catalog.text(path)
