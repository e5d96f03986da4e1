"""A repository that wants to steer the terminal of whoever looks at it, and what must never come out."""

from __future__ import annotations

import os
import unicodedata
from contextlib import suppress
from pathlib import Path

TITLE = "\x1b]0;pwned\x07"
CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
CLEAR = "\x1b[2J\x1b[H"
C1_TITLE = "\x9d0;pwned\x9c"
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
HIDDEN = "\u200b\u2060\ufeff\u00ad\u3164\u2028\u2029\x85\U000e0041\U000e007f\U000e0100\ufe0f"
CONTROLS = "".join(map(chr, (*range(1, 9), *range(11, 32), *range(127, 160))))
EVERYTHING = f"{TITLE}{CLIPBOARD}{CLEAR}{C1_TITLE}{BIDI}{HIDDEN}{CONTROLS}"
FORGED = "src/forged.py:1-9  function forged  1.00"

# What Unicode calls default ignorable: nothing is drawn for it, or only what stands around it changes.
_IGNORABLE = [
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)),
    *range(0xE0000, 0xE1000),
]
FORBIDDEN = {chr(code) for code in _IGNORABLE} | {
    chr(code)
    for code in range(0x11_0000)
    if unicodedata.category(chr(code)) in {"Cc", "Cs", "Zl", "Zp"} and chr(code) not in "\n\t"
}
OUR_COLOURS = ("\x1b[1;36m", "\x1b[2m", "\x1b[1;31m", "\x1b[0m")
OUR_LINE = "\r\x1b[K"  # takes away the line of progress

NAMES = (
    f"evil\n{FORGED}\n{TITLE}.py",
    "back\u202ecod.py",
    "c1\x9b31m\x85.py",
    "hidden\u200b\U000e0041\ufeff.py",
    "tab\tand\rreturn.py",
    "line\u2028para\u2029.md",
    "del\x7f\x1b[2J.js",
)


_ORDINARY = "# what makes a text of it: a file with many control characters and little else counts as binary\n" * 8


def make_repository(root: Path) -> Path:
    """Write a project whose file names, folders, contents, symbols and settings are hostile."""
    (root / ".git").mkdir(parents=True)
    code = (
        f'# {EVERYTHING}\ndef retry_{{}}(call):\n    """Retry {EVERYTHING} with backoff."""\n'
        f'    return call("{CLEAR}")\n' + 2 * _ORDINARY
    )
    for number, name in enumerate(NAMES):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code.format(number), encoding="utf-8")
    (root / "guide.md").write_text(
        f"# Retry {EVERYTHING} with backoff\n\nText {EVERYTHING}\n" + 2 * _ORDINARY.replace("# ", ""), encoding="utf-8"
    )
    (root / "computed.js").write_text(
        f'class Retry {{ ["a\\\nb{TITLE}"]() {{ return 1 }} }}\nconst retry = "{EVERYTHING}"\n'
        + _ORDINARY.replace("# ", "// "),
        encoding="utf-8",
    )
    (root / "imports.py").write_text(
        f"import retry\nfrom x import y  # {EVERYTHING}\nretry_1(2)\n" + _ORDINARY, encoding="utf-8"
    )
    logo = root / f"logo{TITLE}{BIDI}\n{FORGED}.png"
    logo.parent.mkdir()
    logo.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with suppress(OSError):  # not every file system takes such a name
        (root / os.fsdecode(b"bytes\xff\x1b]0;x\x07.py")).write_text("x = 1\n")
    return root


def complaints(text: str, *, terminal: bool = False) -> list[str]:
    """Return the lines with what must not come out. On a terminal our own colours may, and our line of progress."""
    for ours in (*OUR_COLOURS, OUR_LINE) if terminal else ():
        text = text.replace(ours, "")
    if terminal:
        text = text.replace("\r\n", "\n")  # which a terminal makes of each line end
    bad = [repr(line) for line in text.split("\n") if not FORBIDDEN.isdisjoint(line)]
    return bad + [f"forged: {line!r}" for line in text.split("\n") if line.startswith(FORGED)]
