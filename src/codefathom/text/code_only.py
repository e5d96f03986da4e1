"""A text without its comments and without what its strings say, as far as plain patterns tell. Pure.

Lines and columns stay. Names inside of strings stay where the language puts values into them: `f"{name}"`, `"$name"`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SLASHES = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
_HASH = r"(?<![\w$&{\\])#(?![\[{])[^\n]*"
_COMMENTS = {  # by languages; others have those of C
    "python ruby bash perl elixir r julia nim crystal coffeescript fish tcl awk starlark": _HASH,
    "cmake dockerfile make gdscript just yaml toml": _HASH,
    "php nix hcl": rf"{_SLASHES}|{_HASH}",
    "powershell": rf"<#[\s\S]*?(?:#>|\Z)|{_HASH}",
    "lua": r"--\[(=*)\[[\s\S]*?(?:\]\1\]|\Z)|--[^\n]*",
    "haskell elm": r"\{-[\s\S]*?(?:-\}|\Z)|--[^\n]*",
    "sql ada vhdl": r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
    "clojure lisp scheme racket emacs_lisp asm": r";[^\n]*",
    "erlang prolog matlab": r"%[^\n]*",
    "ocaml": r"\(\*[\s\S]*?(?:\*\)|\Z)",
    "fsharp": rf"\(\*[\s\S]*?(?:\*\)|\Z)|{_SLASHES}",
    "pascal": rf"\(\*[\s\S]*?(?:\*\)|\Z)|\{{[^}}]*+(?:\}}|\Z)|{_SLASHES}",
    "fortran": r"![^\n]*",
    "cobol": r"\*>[^\n]*|(?m:^.{6}\*[^\n]*)",
    "visual_basic": r"'[^\n]*",
    "vim": r"(?m:^\s*\"[^\n]*)",
}
_COMMENTS_OF = {language: pattern for languages, pattern in _COMMENTS.items() for language in languages.split()}
# A text that does not end ends with its line: each part is read once, whatever a file holds.
_QUOTED = r'"(?:\\[^\n]|[^"\\\n])*+(?:"|(?=\n)|\\?\Z)'
_MARKUP = frozenset({"vue", "svelte", "html", "astro", "heex", "embedded_template"})
# Quotes that may lie around a text of several lines.
_LONG = frozenset({"python", "kotlin", "swift", "java", "scala", "elixir", "groovy", "julia", "csharp", "dart", "nim"})
# Here ' begins a letter, a type variable, a comment or a part of a name, and not a text.
_NO_SINGLE = frozenset({"rust", "haskell", "ocaml", "fsharp", "ada", "vhdl", "clojure", "lisp", "scheme", "racket"})
_NO_SINGLE |= {"emacs_lisp", "visual_basic", "julia", "verilog", "elm", "nix", "matlab", "scala", "kotlin", "c", "cpp"}
_PUTS_IN = re.compile(r"[#$]?\{[^{}\n]*\}|\$\w+|\\\([^()\n]*\)")
_NO_PUTTING = frozenset({"java", "c", "cpp", "objc", "go", "lua", "haskell", "sql", "erlang", "ocaml"})
_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx", "vue", "svelte"})
_SIGN = re.compile(r"[^\n]")


def code_only(text: str, language: str) -> str:
    """Return a text with spaces in place of comments and of what strings say; of the same length."""
    return _pattern(language).sub(lambda match: _blank(match[0], language), text)


@lru_cache(maxsize=128)
def _pattern(language: str) -> re.Pattern[str]:
    parts = [rf"(?:{_COMMENTS_OF.get(language, _SLASHES)})"]
    if language in _MARKUP:
        parts.append(r"<!--[\s\S]*?(?:-->|\Z)")
    if language in _LONG:
        parts.append(r"[fFrRbBuU$@]{0,2}\"\"\"[\s\S]*?(?:\"\"\"|\Z)")
    if language in ("python", "dart"):
        parts.append(r"[fFrRbBuU]{0,2}'''[\s\S]*?(?:'''|\Z)")
    parts.append(r"[fFrRbBuU$@]{0,2}" + _QUOTED)
    parts.append(
        r"'(?:\\[^'\n]{1,9}|[^'\\\n])'" if language in _NO_SINGLE else r"[fFrRbBuU]{0,2}" + _QUOTED.replace('"', "'")
    )
    if language in _SCRIPTS or language == "go":
        parts.append(r"`(?:\\[\s\S]|[^`\\])*+(?:`|\\?\Z)")
    return re.compile("|".join(parts))


def _blank(part: str, language: str) -> str:
    """Return spaces, but for the names that a string puts in."""
    if not _has_code(part, language):
        return _SIGN.sub(" ", part)
    kept = [" " if sign != "\n" else sign for sign in part]
    for match in _PUTS_IN.finditer(part):
        kept[match.start() : match.end()] = part[match.start() : match.end()]
    return "".join(kept)


def _has_code(part: str, language: str) -> bool:
    quote = part.lstrip("fFrRbBuU$@")[:1]
    if quote not in ('"', "'", "`") or language in _NO_PUTTING:
        return False
    before = part[: part.find(quote)].lower()
    if language == "python":
        return "f" in before
    if language == "csharp":
        return "$" in before
    if language in _SCRIPTS:
        return quote == "`"
    return quote == '"' or language == "dart"
