"""PDF files that want memory: how much do all processes of an index run hold at once?

Run it with `python -m evals.trials.hostile_documents`. Each file is small; what it names is not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import compressobj

from evals.memory import bytes_resident, run_watched

MOST_BYTES = 600_000_000  # that all processes together may hold
_PIECE = 1 << 20


def documents(n_bytes: int = 1_000_000_000) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of PDF files that unpack to about so many bytes."""
    text = b"(hello world) Tj T* "
    yield "text.pdf", _one_page(_packed(b"BT /F1 12 Tf 14 TL " + b"%b", text, n_bytes))
    yield "spaces.pdf", _one_page(_packed(b"%b", b" ", n_bytes))
    yield "twice.pdf", _one_page(_twice_packed(b" ", n_bytes), filters=2)
    yield "numbers.pdf", _one_page(_packed(b"%b", b"0 0 m ", n_bytes))
    yield "strings.pdf", _one_page(_packed(b"BT /F1 12 Tf [%b", b"(a) ", n_bytes))
    yield "one-string.pdf", _one_page(_packed(b"BT /F1 12 Tf (%b", b"a", n_bytes))
    yield "arrays.pdf", _one_page(_packed(b"%b", b"[", n_bytes // 10))
    yield "operands.pdf", _one_page(_packed(b"%b", b"/N ", n_bytes))
    yield (
        "picture.pdf",
        _with(b"/Subtype /Image /Width 30000 /Height 30000 /BitsPerComponent 8 /ColorSpace /DeviceRGB", n_bytes),
    )
    yield "form.pdf", _with(b"/Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>", n_bytes, text)
    yield "font.pdf", _with_font(b"/FontFile2", n_bytes)
    yield "unicode.pdf", _with_font(b"/ToUnicode", n_bytes)
    yield "objects.pdf", _with_objects(n_bytes)


def main(words: Sequence[str] | None = None) -> int:
    """Index a folder of these files, and print the most that was held."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bytes", type=int, default=1_000_000_000, help="what each file unpacks to")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        peak = peak_of(Path(folder), arguments.bytes)
    print(f"{peak / 1e6:,.0f} MB held at once by all processes; {MOST_BYTES / 1e6:,.0f} MB are the most")
    return int(peak > MOST_BYTES)


def peak_of(folder: Path, n_bytes: int) -> int:
    """Index such files in a folder, and return the most bytes that were resident at once."""
    place = folder / "documents"
    place.mkdir()
    for name, data in documents(n_bytes):
        (place / name).write_bytes(data)
    own = {name: str(folder / name.lower()) for name in ("FATHOM_CACHE_DIR", "FATHOM_STATE_DIR")}
    command = [sys.executable, "-m", "codefathom", "index", "-C", str(place)]
    code, peak = run_watched(command, env={**os.environ, **own}, cwd=folder, held=bytes_resident)
    if code:
        raise SystemExit(f"fathom index ended with {code}")
    return peak or 0


def _packed(around: bytes, repeated: bytes, n_bytes: int) -> bytes:
    head = around.partition(b"%b")[0]
    packer, parts = compressobj(9), []
    parts.append(packer.compress(head))
    piece = repeated * (_PIECE // len(repeated))
    parts += [packer.compress(piece) for _ in range(max(n_bytes // len(piece), 1))]
    return b"".join([*parts, packer.flush()])


def _twice_packed(repeated: bytes, n_bytes: int) -> bytes:
    once, packer = _packed(b"%b", repeated, n_bytes), compressobj(9)
    return packer.compress(once) + packer.flush()


def _one_page(content: bytes, filters: int = 1) -> bytes:
    return _file([_FONT], _stream(b"/Filter [" + b"/FlateDecode " * filters + b"]", content))


_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _with(kind: bytes, n_bytes: int, repeated: bytes = b"\0") -> bytes:
    drawn = _stream(b"/Type /XObject /Filter /FlateDecode " + kind, _packed(b"BT /F1 12 Tf %b", repeated, n_bytes))
    return _file([_FONT, drawn], _stream(b"", b"BT /F1 12 Tf (hello) Tj ET /X1 Do"), b"/XObject << /X1 6 0 R >>")


def _with_font(key: bytes, n_bytes: int) -> bytes:
    program = _stream(b"/Filter /FlateDecode", _packed(b"%b", b"<00> <01> <0041>\n", n_bytes))
    own = b"<< /Type /Font /Subtype /TrueType /BaseFont /Own /FontDescriptor 7 0 R /ToUnicode 6 0 R >>"
    described = b"<< /Type /FontDescriptor /FontName /Own /Flags 32 " + key + b" 6 0 R >>"
    return _file([own, program, described], _stream(b"", b"BT /F1 12 Tf (hello) Tj ET"))


def _with_objects(n_bytes: int) -> bytes:
    """Return a file whose catalogue lies in a stream of objects that is far too large."""
    packed = _packed(b"1 0 << /Type /Catalog /Pages 2 0 R >> %b", b"<< /A [1 2 3] >> ", n_bytes)
    return _file(
        [_FONT, _stream(b"/Type /ObjStm /N 100000000 /First 4 /Filter /FlateDecode", packed)], _stream(b"", b"")
    )


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<< " + entries + b" /Length %d >>\nstream\n" % len(data) + data + b"\nendstream"


def _file(objects: Sequence[bytes], content: bytes, resources: bytes = b"") -> bytes:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> "
    font, *more = objects
    everything = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        font,
        page + resources + b" >> >>",
        content,
        *more,
    ]
    data, places = b"%PDF-1.5\n", []
    for number, item in enumerate(everything, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%btrailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return data + end % (len(places) + 1, table, len(places) + 1, len(data))


if __name__ == "__main__":
    sys.exit(main())
