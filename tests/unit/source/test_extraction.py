"""The text of PDF and Word files and notebooks: what it is, and what of the hostile ones is refused and why."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import pytest
from evals.trials.hostile_documents import MOST_BYTES, documents, peak_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import LOCKED, code, notebook, part_of, pdf, prose, with_part, word
from tests.waiting import comes

from codefathom.source.extraction import notebook_text, pdf_text, word_text
from codefathom.source.extraction.extracted_text import extracted_text
from codefathom.source.extraction.extraction_child import READER, ExtractionChild
from codefathom.source.extraction.refusal import LIMITS, Refusal

BODY = "word/document.xml"


def said(answer: str | Refusal) -> str:
    """Return the text of a document, or the reason why it has none."""
    return answer if isinstance(answer, str) else answer.reason


def check(path: str, data: bytes, expected: str) -> None:
    """The text is as expected, in a process of its own as well as here, and each time the same."""
    assert extracted_text(path, data) == expected
    assert extracted_text(path, data) == expected


def refused(path: str, data: bytes) -> str:
    answer = extracted_text(path, data)
    assert isinstance(answer, Refusal), answer
    return answer.reason


# ---- PDF


def test_a_pdf_is_its_pages() -> None:
    check("a.pdf", pdf(["One\nTwo", "", "Three"]), "[page 1]\nOne\nTwo\n\n[page 2]\n\n[page 3]\nThree\n")


def test_a_word_that_goes_on_in_the_next_line_is_whole() -> None:
    check("a.pdf", pdf(["it backs off expo-\nnentially here"]), "[page 1]\nit backs off exponentially here\n")


def test_a_line_of_a_page_that_looks_like_a_mark_is_none() -> None:
    check("a.pdf", pdf(["[page 7]\n# no heading"]), "[page 1]\n [page 7]\n# no heading\n")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.4 nothing more", "broken PDF"),
        (b"", "broken PDF"),
        (pdf(["One"])[:-200], "broken PDF"),
        (pdf(["One"], trailer=LOCKED), "encrypted with a password"),
        (pdf([""]), "a PDF without text; its pages may be pictures"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS; `git lfs pull` brings the file"),
    ],
)
def test_a_pdf_that_is_refused_says_why(data: bytes, reason: str) -> None:
    # Pdfium mends some files that were cut; then there is a text.
    answer = extracted_text("a.pdf", data)
    assert said(answer) == reason or (isinstance(answer, str) and "One" in answer)


def test_a_pdf_beyond_the_limits_is_refused() -> None:
    data = pdf(["One"] * 4)
    assert said(pdf_text.text_of(data, LIMITS._replace(pages=3))) == "it has more than 3 pages"
    assert said(pdf_text.text_of(data, LIMITS._replace(chars=10))) == "its text has more than 10 characters"
    assert isinstance(pdf_text.text_of(data, LIMITS._replace(pages=4, chars=16)), str)


@settings(max_examples=40)
@given(place=st.integers(0, 600), junk=st.binary(max_size=40))
def test_any_bytes_of_a_pdf_give_a_text_or_a_reason(place: int, junk: bytes) -> None:
    data = pdf(["One", "Two"])
    assert isinstance(extracted_text("a.pdf", data[:place] + junk + data[place + len(junk) :]), str | Refusal)


# ---- Word


def test_a_word_document_is_its_paragraphs_headings_and_rows() -> None:
    data = word("Preface", (0, "Title"), (1, "Limits"), "Forty\nlines", (3, "Deep"), [["name", "value"], ["a", "1"]])
    lines = ["Preface", "# Title", "# Limits", "Forty lines", "### Deep", "name | value", "a | 1"]
    check("a.docx", data, "\n\n".join(lines) + "\n")


def test_a_paragraph_that_looks_like_a_heading_is_none() -> None:
    check("a.docx", word("# not a heading", "#tag"), " # not a heading\n\n#tag\n")


def test_headings_are_seen_through_the_styles_that_are_based_on_them() -> None:
    document = docx.Document()
    style = document.styles.add_style("Mine", 1)
    style.base_style = document.styles["Heading 2"]
    loop = document.styles.add_style("Loop", 1)
    loop.base_style = loop
    document.add_paragraph("Based", "Mine")
    document.add_paragraph("Round", "Loop")
    data = BytesIO()
    document.save(data)
    check("a.docx", data.getvalue(), "## Based\n\nRound\n")


def test_inserted_text_counts_and_deleted_and_repeated_text_does_not() -> None:
    data = word("here")
    body = part_of(data, BODY).decode()
    run = "<w:r><w:t>{}</w:t></w:r>"
    content = (
        f"<w:ins>{run.format('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        f"<mc:Choice Requires='x'>{run.format('box')}</mc:Choice><mc:Fallback>{run.format('again')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    changed = with_part(data, BODY, body.replace("</w:p>", f"{content}</w:p>", 1).encode())
    check("a.docx", changed, "herenewbox\n")


def many_parts() -> bytes:
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        for number in range(LIMITS.parts + 1):
            archive.writestr(f"{number}", "")
    return data.getvalue()


def with_entities(encoding: str) -> bytes:
    bombs = '<!DOCTYPE lol [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    text = f'<?xml version="1.0" encoding="{encoding}"?>{bombs}<w:document xmlns:w="http://x">&b;&c;</w:document>'
    return with_part(word("One"), BODY, text.encode(encoding))


def encrypted_entry() -> bytes:
    data = bytearray(word("One"))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(mark, at + 4)
    return bytes(data)


OF_TYPE = "a Word document with a document type in its XML, which none needs"
TOO_LARGE = "an archive that is much too large when it is unpacked"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: b"no archive", "broken Word document"),
        (lambda: word("One")[:-300], "broken Word document"),
        (lambda: with_part(word("One"), BODY, b"<w:document"), "broken Word document"),
        (lambda: with_part(word("One"), "[Content_Types].xml", b"<Types/>"), "broken Word document"),
        (word, "a Word document without text"),
        (lambda: b"\xd0\xcf\x11\xe0" + bytes(100), "encrypted with a password, or not a .docx file"),
        (encrypted_entry, "encrypted with a password"),
        (many_parts, "an archive with more than 5,000 parts"),
        (lambda: with_part(word("One"), "word/media/a.bin", bytes(30_000_000)), TOO_LARGE),
        (lambda: with_entities("utf-8"), OF_TYPE),
        (lambda: with_entities("utf-16"), OF_TYPE),
        (lambda: with_entities("utf-32"), OF_TYPE),
        (lambda: with_entities("cp037"), OF_TYPE),
        (lambda: with_part(word("One"), "word/theme/theme1.xml", b"<!DOCTYPE x><x/>"), OF_TYPE),
    ],
)  # fmt: skip
def test_a_word_document_that_is_refused_says_why(make, reason: str) -> None:
    assert refused("a.docx", make()) == reason


def test_no_more_is_unpacked_than_an_archive_declares() -> None:
    """A part that says it is small, and is not: what is too much of it is never made."""
    data = BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" + bytes(5_000_000))
    lying = data.getvalue().replace((5_000_003).to_bytes(4, "little"), (3).to_bytes(4, "little"))
    assert lying != data.getvalue()
    assert refused("a.docx", lying) == "broken Word document"


def test_a_word_document_beyond_the_limits_is_refused() -> None:
    data = word("One", "Two")
    assert said(word_text.text_of(data, LIMITS._replace(chars=8))) == "its text has more than 8 characters"
    assert said(word_text.text_of(data, LIMITS._replace(unpacked_bytes=1_000))) == TOO_LARGE
    assert isinstance(word_text.text_of(data, LIMITS._replace(chars=10)), str)


def test_word_of_the_old_format_is_told_to_be_saved() -> None:
    reason = "the format of Word before 2007 is not read; save it as .docx"
    assert refused("a.doc", b"\xd0\xcf\x11\xe0") == reason
    assert refused("A.DOT", b"text") == reason


# ---- notebooks


def test_a_notebook_is_its_cells_and_what_they_printed() -> None:
    data = notebook(
        prose("# Harvest\n\n[cell 9: python]"),
        code(
            "x = 1\nprint(x)\n",
            {"output_type": "stream", "text": ["1\n", "2\n"]},
            {"output_type": "display_data", "data": {"image/png": "iVBORw0", "text/html": "<b>"}},
            {"output_type": "execute_result", "data": {"text/plain": "3"}},
            {"output_type": "error", "ename": "KeyError", "evalue": "\x1b[31m'a'\x1b[0m", "traceback": ["long"]},
        ),
        code("%%bash\nls"),
        {"cell_type": "raw", "source": "raw"},
    )
    check(
        "a.ipynb",
        data,
        "[cell 1: markdown]\n# Harvest\n\n [cell 9: python]\n\n"
        "[cell 2: python]\nx = 1\nprint(x)\n\n\n[cell 2: output]\n1\n2\n3\nKeyError: 'a'\n\n"
        "[cell 3: bash]\n%%bash\nls\n\n[cell 4: raw]\nraw\n",
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"3", b'{"cells": 3}', b'{"cells": {}, "worksheets": 1', b"[" * 100_000, b'{"worksheets": []}'],
)
def test_a_broken_notebook_is_refused(data: bytes) -> None:
    assert refused("a.ipynb", data) == "broken notebook"


@pytest.mark.parametrize(
    "cells",
    [
        b'[1, null, "x", {}]',
        b'[{"cell_type": "code", "source": 3, "outputs": [1, {"text": {}, "data": []}]}]',
        b'[{"cell_type": ["code"], "source": [1, "a", null]}]',
    ],
)
def test_odd_cells_are_no_error(cells: bytes) -> None:
    assert isinstance(extracted_text("a.ipynb", b'{"cells": ' + cells + b', "metadata": 4}'), str)


def test_long_outputs_are_cut_and_long_notebooks_refused() -> None:
    data = notebook(code("x", {"output_type": "stream", "text": "a\n" * 100_000}))
    assert len(str(extracted_text("a.ipynb", data))) < 200
    assert said(notebook_text.text_of(data, LIMITS._replace(chars=20))) == "its text has more than 20 characters"


# ---- the process


@pytest.fixture
def child() -> Iterator[ExtractionChild]:
    one = ExtractionChild()
    yield one
    one.stop()


def pid_of(child: ExtractionChild) -> int:
    assert child._process is not None
    return child._process.pid


def test_one_process_reads_many_documents_and_a_new_one_comes_after_it_was_killed(child: ExtractionChild) -> None:
    data = pdf(["One"])
    assert child.text_of("pdf", data, LIMITS) == "[page 1]\nOne\n"
    first = pid_of(child)
    assert child.text_of("docx", word("Two"), LIMITS) == "Two\n"
    assert pid_of(child) == first
    os.kill(first, signal.SIGKILL)
    assert child.text_of("pdf", data, LIMITS) == "[page 1]\nOne\n"
    assert pid_of(child) != first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_document_that_takes_too_long_is_refused(child: ExtractionChild) -> None:
    data = pdf(["word " * 400] * 3_000)
    answer = child.text_of("pdf", data, LIMITS._replace(cpu_s=0.01))
    assert said(answer) == "reading it takes longer than 0.01 s"
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_many_slow_documents_do_not_take_as_long_as_each_of_them_may(child: ExtractionChild) -> None:
    data = pdf(["word " * 400] * 3_000)
    limits = LIMITS._replace(cpu_s=0.02, usual_cpu_s=0.01, slow_cpu_s=0.025)
    reasons = [said(child.text_of("pdf", data, limits)) for _ in range(5)]
    late = (
        "reading it takes longer than 0.01 s, and slow documents before it had used up 0.025 s; "
        "`fathom index --only` with its path reads it alone"
    )
    assert reasons == [*["reading it takes longer than 0.02 s"] * 3, late, late]
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"  # others are read as before
    child.begin_run()
    assert said(child.text_of("pdf", data, limits)) == reasons[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a limit")
def test_a_document_that_takes_too_much_memory_is_refused(child: ExtractionChild) -> None:
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"  # with the library loaded
    data = notebook(*([prose("x")] * 300_000))
    few = LIMITS._replace(memory_bytes=120_000_000)
    assert said(child.text_of("notebook", data, few)) == "reading it takes too much memory"
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a limit")
def test_a_document_over_which_the_process_dies_is_refused(child: ExtractionChild) -> None:
    """Without memory for anything, the process dies over the first library that it loads."""
    answer = child.text_of("pdf", pdf(["One"]), LIMITS._replace(memory_bytes=1))
    assert isinstance(answer, Refusal)
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_the_process_ends_with_the_one_that_reads(child: ExtractionChild) -> None:
    child.text_of("pdf", pdf(["One"]), LIMITS)
    pid, process = pid_of(child), child._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert comes(lambda: "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])


def test_all_of_this_process_share_one() -> None:
    extracted_text("a.pdf", pdf(["One"]))
    first = pid_of(READER)
    extracted_text("b.docx", word("Two"))
    assert pid_of(READER) == first


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a limit")
def test_a_document_for_which_little_memory_is_not_enough_gets_more(child: ExtractionChild) -> None:
    data = notebook(*([prose("x")] * 30_000))
    answers = [child.text_of("notebook", data, LIMITS._replace(usual_memory_bytes=few)) for few in (1, 10**8)]
    assert answers[0] == answers[1]
    assert isinstance(answers[0], str)


@pytest.mark.parametrize("few", [1, 2_000_000, 6_000_000])
def test_a_document_is_not_called_broken_where_memory_was_little(child: ExtractionChild, few: int) -> None:
    data = pdf([f"hello page {number}" for number in range(30)])
    answer = child.text_of("pdf", data, LIMITS._replace(usual_memory_bytes=few))
    assert isinstance(answer, str)
    broken = child.text_of("pdf", data[:200], LIMITS)
    assert isinstance(broken, Refusal)
    assert broken.why.kind == "broken_pdf"


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a limit")
def test_thirteen_hostile_documents_leave_memory_to_others(tmp_path: Path) -> None:
    assert 0 < peak_of(tmp_path, 1_000_000_000) <= MOST_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a limit")
def test_no_hostile_document_is_more_than_refused(child: ExtractionChild) -> None:
    few = LIMITS._replace(memory_bytes=60_000_000, cpu_s=20)
    for name, data in documents(100_000_000):
        assert isinstance(child.text_of("pdf", data, few), str | Refusal), name
    assert child.text_of("pdf", pdf(["One"]), LIMITS) == "[page 1]\nOne\n"
