"""Table of languages and kinds of documents, one row each with all that belongs to it; the language of a file. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from codefathom.facts import heads
from codefathom.facts.reasons import BROKEN_NOTEBOOK, BROKEN_PDF, BROKEN_RTF, BROKEN_WORD, OLD_WORD

TEXT = "text"


class Extraction(NamedTuple):
    """Way in which a document that is not a text as it is becomes one, in `source/extraction`."""

    title: str  # for people
    broken: str  # the kind of note that says that one cannot be read
    reader: str  # the module of `source/extraction` that takes the text out
    library: str = ""  # of the extra `documents`, as it is imported; "" when the reader needs none
    marks: Literal["pages", "headings", "cells"] = "headings"  # what `source/document_places.py` finds in the text
    unread: str = ""  # endings of older forms that nobody reads here
    instead: str = ""  # ... and the kind of note that says why not, and what to do
    is_plain: bool = False  # its reader is plain Python, so that small ones need no process of their own


class Language(NamedTuple):
    """A language or a kind of document. Lists are separated by spaces."""

    name: str  # that of the bundled grammar where there is one; the parser takes the others as text
    kind: Literal["code", "prose", "data"]
    endings: str = ""  # without the dot, in small letters
    files: str = ""  # whole names of files, in small letters
    programs: str = ""  # of a `#!` line
    aliases: str = ""  # other names that people use
    tests: str = ""  # names of its files with tests beyond those of all languages (`facts/paths.py`), an expression
    has_tests: bool = True  # False: what lies in a folder of tests is data for them
    family: str = ""  # its files and those of this language import and call one another
    minified: int = 0  # least characters of a file of long lines that a program wrote; 0: no program writes such files
    extraction: Extraction | None = None
    heads: str = ""  # an expression: the lines with which definitions begin (`facts/heads.py`)


_JVM_TESTS = r"Test(?!Base|Case|Data|Helper|Support|Util)[A-Z]\w*\.\w+|\w*[a-z0-9]IT(?:Case)?\.\w+"
_SCRIPT_TESTS = r".+[.-](?:cy|e2e)\.\w+"

# A page with one long line in it may still be a person's, so an HTML page must be large to count as minified.
TABLE = (
    Language("ada", "code", "adb ads", heads=heads.ADA),
    Language("apl", "code", "apl"),
    Language("asm", "code", "asm s nasm"),
    Language("astro", "code", "astro"),
    Language("awk", "code", "awk", programs="awk gawk", heads=heads.AWK),
    Language(
        "bash",
        "code",
        "sh bash zsh ksh bats ebuild eclass command",
        files=".bashrc .bash_profile .profile .zshrc pkgbuild",
        programs="sh bash zsh ksh dash ash bats",
        aliases="shell",
        tests=r".+\.bats",
        heads=heads.BASH,
    ),
    Language("batch", "code", "bat cmd", heads=heads.BATCH),
    Language("c", "code", "c h", tests=r".+_unit_?tests?\.c", heads=heads.C),
    Language("clojure", "code", "clj cljs cljc edn bb", programs="clojure bb", heads=heads.CLOJURE),
    Language("cmake", "code", "cmake", files="cmakelists.txt", heads=heads.CMAKE),
    Language("cobol", "code", "cob cbl cpy", heads=heads.COBOL),
    Language("coffeescript", "code", "coffee cson", heads=heads.COFFEESCRIPT),
    Language(
        "cpp",
        "code",
        "cc cpp cxx c++ hh hpp hxx h++ ipp inl tcc tpp txx cu cuh ixx cppm ino",
        tests=r".+_unit_?tests?\.\w+",
        family="c",
        heads=heads.CPP,
    ),
    Language("crystal", "code", "cr", heads=heads.CRYSTAL),
    Language("csharp", "code", "cs csx cake", aliases="c#", heads=heads.CSHARP),
    Language("d", "code", "d di", heads=heads.D),
    Language("dart", "code", "dart", heads=heads.DART),
    Language("dockerfile", "code", files="dockerfile containerfile", aliases="docker", heads=heads.DOCKERFILE),
    Language("elixir", "code", "ex exs", files="mix.lock", programs="elixir", heads=heads.ELIXIR),
    Language("elm", "code", "elm", heads=heads.ELM),
    Language("embedded_template", "code", "erb ejs eta"),
    Language("emacs_lisp", "code", "el", files=".emacs", heads=heads.LISP),
    Language(
        "erlang",
        "code",
        "erl hrl escript xrl yrl",
        files="rebar.config",
        programs="escript",
        tests=r"\w+_SUITE\.erl",
        heads=heads.ERLANG,
    ),
    Language("fish", "code", "fish", programs="fish", heads=heads.FISH),
    Language("fortran", "code", "f f77 f90 f95 f03 f08 f18 for ftn fpp", heads=heads.FORTRAN),
    Language("fsharp", "code", "fs fsi fsx", aliases="f#", heads=heads.FSHARP),
    Language("glsl", "code", "glsl vert frag geom comp tesc tese", heads=heads.SHADER),
    Language("go", "code", "go", aliases="golang", heads=heads.GO),
    Language("gotmpl", "code", "tmpl gotmpl gohtml"),
    Language("graphql", "code", "graphql gql graphqls", heads=heads.GRAPHQL),
    Language(
        "groovy",
        "code",
        "groovy gradle gvy jenkinsfile",
        files="jenkinsfile",
        programs="groovy",
        tests=_JVM_TESTS,
        family="java",
        heads=heads.GROOVY,
    ),
    Language("haml", "code", "haml slim pug jade"),
    Language("haskell", "code", "hs lhs hsc hs-boot", programs="runhaskell runghc stack", heads=heads.HASKELL),
    Language("hcl", "code", "hcl tf tfvars", aliases="terraform"),
    Language("heex", "code", "heex leex eex"),
    Language("java", "code", "java", tests=_JVM_TESTS, heads=heads.JAVA),
    Language(
        "javascript",
        "code",
        "js jsx mjs cjs es6 jsm",
        programs="node nodejs",
        aliases="node nodejs",
        tests=_SCRIPT_TESTS,
        minified=5_000,
        heads=heads.JAVASCRIPT,
    ),
    Language("jinja2", "code", "j2 jinja jinja2 njk"),
    Language("jsonnet", "code", "jsonnet libsonnet"),
    Language("julia", "code", "jl", programs="julia", tests=r"runtests\.jl", heads=heads.JULIA),
    Language("just", "code", "just", files="justfile", programs="just", heads=heads.JUST),
    Language("kotlin", "code", "kt kts", programs="kotlin", tests=_JVM_TESTS, family="java", heads=heads.KOTLIN),
    Language("lisp", "code", "lisp lsp asd", heads=heads.LISP),
    Language("lua", "code", "lua luau rockspec", programs="lua luajit", heads=heads.LUA),
    Language(
        "make",
        "code",
        "mk mak make",
        files="makefile gnumakefile bsdmakefile kconfig",
        programs="make",
        heads=heads.MAKE,
    ),
    Language("matlab", "code", "mlx", heads=heads.MATLAB),
    Language("nim", "code", "nim nims", heads=heads.NIM),
    Language("nix", "code", "nix", programs="nix-shell", heads=heads.NIX),
    Language("objc", "code", "m mm", aliases="objective-c objectivec", family="c", heads=heads.OBJC),
    Language("ocaml", "code", "ml mli mll mly", files="dune"),
    Language("pascal", "code", "pas dpr lpr", heads=heads.PASCAL),
    Language("perl", "code", "pl pm t psgi pod", programs="perl", tests=r".+\.t", heads=heads.PERL),
    Language("php", "code", "php php3 php4 php5 phtml phpt", programs="php", tests=r".+\.phpt", heads=heads.PHP),
    Language("powershell", "code", "ps1 psm1 psd1", programs="pwsh", tests=r".+\.Tests\.ps1", heads=heads.POWERSHELL),
    Language("prolog", "code", "prolog"),
    Language("proto", "code", "proto", heads=heads.PROTO),
    Language(
        "python",
        "code",
        "py pyi pyw pyx pxd pxi",
        files="meson.build sconstruct sconscript wscript",
        programs="python pypy uv",
        aliases="ipython py3 python3",
        tests=r"(?:tests?|conftest)\.py",
        heads=heads.PYTHON,
    ),
    Language("r", "code", "r", programs="rscript", tests=r"test(?:-.*|that)\.[rR]", heads=heads.R),
    Language("racket", "code", "rkt rktl", programs="racket", heads=heads.SCHEME),
    Language(
        "ruby",
        "code",
        "rb rake gemspec ru rbi rbs podspec thor jbuilder builder",
        files="rakefile gemfile guardfile vagrantfile podfile fastfile brewfile capfile thorfile",
        programs="ruby jruby",
        tests=r"(?:spec|rails)_helper\.rb",
        heads=heads.RUBY,
    ),
    Language("rust", "code", "rs", tests=r"tests?\.rs", heads=heads.RUST),
    Language(
        "scala",
        "code",
        "scala sc sbt mill",
        programs="scala scala-cli",
        tests=_JVM_TESTS,
        family="java",
        heads=heads.SCALA,
    ),
    Language("scheme", "code", "scm ss sld", programs="guile", heads=heads.SCHEME),
    Language("solidity", "code", "sol", tests=r".+\.t\.sol", heads=heads.SOLIDITY),
    Language("sql", "code", "sql ddl dml psql pgsql plsql tsql", has_tests=False, heads=heads.SQL),
    Language("starlark", "code", "bzl bazel star", files="build.bazel tiltfile", heads=heads.PYTHON),
    Language("svelte", "code", "svelte", family="javascript"),
    Language("swift", "code", "swift", programs="swift", heads=heads.SWIFT),
    Language("tcl", "code", "tcl tk exp", programs="tclsh expect", heads=heads.TCL),
    Language("thrift", "code", "thrift", heads=heads.THRIFT),
    Language("tsx", "code", "tsx", tests=_SCRIPT_TESTS, family="javascript", heads=heads.TYPESCRIPT),
    Language(
        "typescript",
        "code",
        "ts mts cts",
        programs="deno bun ts-node tsx",
        tests=_SCRIPT_TESTS,
        family="javascript",
        minified=5_000,
        heads=heads.TYPESCRIPT,
    ),
    Language("verilog", "code", "v vh sv svh", tests=r"tb_.+|.+_tb\.\w+", heads=heads.VERILOG),
    Language("vhdl", "code", "vhd vhdl", tests=r"tb_.+|.+_tb\.\w+", heads=heads.VHDL),
    Language("vim", "code", "vim vimrc", files=".vimrc", heads=heads.VIM),
    Language("visual_basic", "code", "vb vbs bas", aliases="vb", heads=heads.BASIC),
    Language("vue", "code", "vue", family="javascript"),
    Language("wat", "code", "wat wast"),
    Language("wgsl", "code", "wgsl", heads=heads.WGSL),
    Language("zig", "code", "zig", tests=r"tests?\.zig", heads=heads.ZIG),
    Language("asciidoc", "prose", "adoc asciidoc"),
    Language("latex", "prose", "tex sty bib ltx", aliases="tex"),
    Language("markdown", "prose", "md markdown mdx mkd mkdn mdown livemd rmd"),
    Language("org", "prose", "org"),
    Language("rst", "prose", "rst rest", aliases="restructuredtext"),
    Language("text", "prose", "txt text"),
    Language("typst", "prose", "typ"),
    Language("css", "data", "css", minified=5_000),
    Language("dtd", "data", "dtd"),
    Language("gitignore", "data", "gitignore dockerignore npmignore", files=".gitignore .gitattributes"),
    Language("html", "data", "html htm xhtml", minified=50_000),
    Language(
        "ini", "data", "ini cfg conf desktop editorconfig service", files=".gitconfig .gitmodules .npmrc .editorconfig"
    ),
    Language(
        "json",
        "data",
        "json geojson jsonl ndjson webmanifest avsc har map",
        files="composer.lock package.resolved .babelrc",
        minified=5_000,
    ),
    Language("json5", "data", "json5"),
    Language("jsonc", "data", "jsonc code-workspace", files=".eslintrc tsconfig.json"),
    Language("kdl", "data", "kdl"),
    Language("less", "data", "less"),
    Language("properties", "data", "properties env", files=".env"),
    Language("sass", "data", "sass styl"),
    Language("scss", "data", "scss"),
    Language("toml", "data", "toml", files="pipfile cargo.lock poetry.lock uv.lock"),
    Language(
        "xml",
        "data",
        "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets nuspec resx xaml storyboard xib pom wsdl rss "
        "atom",
    ),
    Language("yaml", "data", "yaml yml", files=".prettierrc .clang-format .clang-tidy"),
    Language("zon", "data", "zon"),
    Language("csv", "data", "csv tsv psv"),
    Language(
        "pdf", "prose", "pdf", extraction=Extraction("PDF", BROKEN_PDF, "pdf_text", library="pypdfium2", marks="pages")
    ),
    Language(
        "docx",
        "prose",
        "docx",
        aliases="word",
        extraction=Extraction(
            "Word document",
            BROKEN_WORD,
            "word_text",
            library="docx",
            unread="doc dot",
            instead=OLD_WORD,
        ),
    ),
    Language("rtf", "prose", "rtf", extraction=Extraction("RTF document", BROKEN_RTF, "rtf_text")),
    Language(
        "notebook",
        "data",
        "ipynb",
        aliases="jupyter",
        extraction=Extraction("notebook", BROKEN_NOTEBOOK, "notebook_text", marks="cells", is_plain=True),
    ),
)

CODE = frozenset(language.name for language in TABLE if language.kind == "code")
PROSE = frozenset(language.name for language in TABLE if language.kind == "prose")
EXTRACTIONS = {language.name: language.extraction for language in TABLE if language.extraction is not None}
LANGUAGES = {language.name: language for language in TABLE}
_BY_ENDING = {ending: language.name for language in TABLE for ending in language.endings.split()}
_BY_FILE_NAME = {name: language.name for language in TABLE for name in language.files.split()}
_BY_PROGRAM = {program: language.name for language in TABLE for program in language.programs.split()}
_BY_ALIAS = {alias: language.name for language in TABLE for alias in language.aliases.split()}
_ENDS_OF_EXTRACTED = tuple(f".{ending}" for name in EXTRACTIONS for ending in LANGUAGES[name].endings.split())
_UNREAD = {f".{ending}": how.instead for how in EXTRACTIONS.values() for ending in how.unread.split()}
_ENDS_OF_DOCUMENTS = (*_ENDS_OF_EXTRACTED, *_UNREAD)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEAVINGS = _words("bak dat diff license lock log orig out patch pid po pot rej snap srt sum tmp")
# Endings by which a word alone is not known as the name of a file: `x.py` is one, `app.map` and `self.text` are not.
_ALSO_WORDS = _words(
    """atom bb builder cake command comp d desktop di env eta exp f for frag geom har inl jade just lisp make map mill
    org pod pom prolog props psv pug rest rss ru service slim sld ss star t targets text thor thrift tk tmpl typ vert"""
)
FILE_ENDINGS = (_BY_ENDING.keys() | _words("hbs lock mod sum")) - _ALSO_WORDS
# `response.json()` is no file, and `self.d` none either: such words are files only where the index has them.
MEMBER_ENDINGS = _words("c conf css d go h html js json lock m map mod r sh")

# Texts: a search that only knows the names of languages should not wait for their compilation.
_CPP = (
    r"(?m)^[ \t]*(?:(?:inline[ ]+)?namespace\b|template[ ]*<|using[ ]+[\w:]+[ ]*[=;]|(?:public|private|protected)[ ]*:"
    r"|class[ ]+\w[^;\n]*[{:]|#[ ]*include[ ]*<[a-z_]+>|static_assert\b|constexpr\b"
    r"|enum[ ]+(?:class|struct)[ ]+\w|(?:friend[ ]+)?class[ ]+\w+[ ]*;|class[ ]+[\w ]*\w[ ]*\n[ \t]*\{"
    r"|(?:virtual|explicit|friend|mutable)[ ]+[\w~]|(?:UCLASS|USTRUCT|UENUM|UINTERFACE|GENERATED_BODY)\()"
    r"|\bstd::|\bextern[ ]+\"C\+\+\"|\)[ ]*(?:const[ ]*)?(?:noexcept[ ]*)?(?:override[ ]*)?=[ ]*(?:default|delete)[ ]*;"
    r"|\boperator[ ]*(?:[-+*/=<>!&|^%]{1,3}|\[\]|\(\))[ ]*\("
)
_COMMENT_OF_C = r"(?s)/\*.*?\*/|//[^\n]*"
_OBJC = r"(?m)^[ \t]*(?:@(?:interface|protocol|class|implementation|end|property|import)\b|#[ ]*import\b)"
_MATLAB = r"(?m)^[ \t]*(?:function\b|classdef\b|%)"
_MATHEMATICA = r"(?m)^[ \t]*(?:\(\*|BeginPackage\[|\w+\[\w*_)"
_PERL = (
    r"(?m)^#!.*perl|^[ \t]*(?:use|no|require|package|our|my|sub)[ \t]+[\w:$@%({]|^=(?:head1|pod|cut)\b|\$_\b|@ARGV\b"
)
_PROLOG = r"(?m)^:-|^[a-z]\w*(?:\([^()\n]*\))?[ \t]*:-|^[a-z]\w*\([^()\n]*\)\.[ \t]*(?:%.*)?$"
_REBOL = r"(?i)\A\s*(?:rebol|red)[ \t]*\["
_LATEX_CLASS = r"\\(?:ProvidesClass|NeedsTeXFormat|LoadClass|ProvidesExplClass)\b"
_BASIC_CLASS = r"(?mi)^(?:VERSION [\d.]+ CLASS|Attribute VB_\w+)"
_SNIFFED_CHARS = 50_000


def language_of(path: str, first_line: str = "") -> str:
    """Name the language by file name, extension or first line; "text" when none of them tells."""
    written = path.rsplit("/", 1)[-1]
    name = written.lower()
    if written in ("BUILD", "WORKSPACE"):  # in capitals: a script is often named "build"
        return "starlark"
    if name.startswith("dockerfile."):
        return "dockerfile"
    if language := _BY_FILE_NAME.get(name):
        return language
    _, dot, extension = name.rpartition(".")
    language = _BY_ENDING.get(extension, "") if dot else ""
    if extension == "ts" and first_line.startswith("<?xml"):
        return "xml"  # a translation file of Qt
    return language or _by_first_line(first_line) or TEXT


def is_extracted(path: str) -> bool:
    """Return True for a file that is no text itself, but has one, such as a PDF."""
    return path.lower().endswith(_ENDS_OF_EXTRACTED)


def is_document(path: str) -> bool:
    """Return True for a file that is never read as it is: its text is taken out of it, or nobody can do that."""
    return path.lower().endswith(_ENDS_OF_DOCUMENTS)


def reason_unread(path: str) -> str:
    """Return the kind of note that says why a document of this ending is not read, "" for any other file."""
    return next((kind for end, kind in _UNREAD.items() if path.lower().endswith(end)), "")


def marks_of(language: str) -> str:
    """Return the form of the parts of a document's text: "pages", "headings" or "cells"; "" for other files."""
    how = EXTRACTIONS.get(language)
    return how.marks if how is not None else ""


def titles_of_documents() -> str:
    """Return the kinds of documents in words: `PDF, Word document or notebook`."""
    *others, last = (how.title for how in EXTRACTIONS.values())
    return f"{', '.join(others)} or {last}"


def may_be_code(path: str, language: str) -> bool:
    """Return True for code, and for a text whose ending no language here has, unless logs and the like have it."""
    if language in CODE:
        return True
    name, dot, extension = path.rsplit("/", 1)[-1].lower().rpartition(".")
    is_unknown = bool(name and dot and extension) and extension not in _BY_ENDING and extension not in _LEAVINGS
    return language == TEXT and is_unknown


def language_named(name: str) -> str:
    """Return the language with this name, in any case: its own, another usual one, or an extension; "" for none."""
    folded = name.strip().lower().removeprefix(".")
    if folded in LANGUAGES:
        return folded
    return _BY_ALIAS.get(folded) or _BY_ENDING.get(folded, "")


def extensions_of(language: str) -> list[str]:
    """Return the extensions by which files of a language are known, in order."""
    return sorted(extension for extension, name in _BY_ENDING.items() if name == language)


def refine(path: str, language: str, text: str) -> str:
    """Decide by the text where one extension serves several languages, such as `.h`, `.m` or `.pl`."""
    extension = path.rpartition(".")[2].lower()
    usual, decide = _BY_TEXT.get(extension, ("", None))
    return decide(text[:_SNIFFED_CHARS]) if decide is not None and language == usual else language


def _by_first_line(line: str) -> str:
    if line.startswith("#!"):
        return _by_program(line[2:].split())
    if "-*-" in line and re.search(r"-\*-.*\bc\+\+.*-\*-", line, re.IGNORECASE):
        return "cpp"
    start = line.lstrip().lower()
    for mark, language in (("<?php", "php"), ("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html")):
        if start.startswith(mark):
            return language
    return ""


def _by_program(words: list[str]) -> str:
    """The language of a `#!` line: the first word that is a program, after `env` and its options."""
    for word in words:
        name = word.rsplit("/", 1)[-1].lower()
        if name == "env" or name.startswith("-") or "=" in name:
            continue
        return _BY_PROGRAM.get(name, "") or _BY_PROGRAM.get(name.rstrip("0123456789."), "")
    return ""


def _of_header(text: str) -> str:
    if re.search(_OBJC, text):
        return "objc"
    return "cpp" if re.search(_CPP, re.sub(_COMMENT_OF_C, " ", text)) else "c"


def _of_m(text: str) -> str:
    if re.search(_OBJC, text):
        return "objc"
    if re.search(_MATLAB, text):
        return "matlab"
    return TEXT if re.search(_MATHEMATICA, text) else "objc"


def _of_pl(text: str) -> str:
    return "prolog" if re.search(_PROLOG, text) and not re.search(_PERL, text) else "perl"


def _of_t(text: str) -> str:
    """Tests of Perl; other programs end the names of their files like this, too."""
    return "perl" if re.search(_PERL, text) else TEXT


def _of_r(text: str) -> str:
    return TEXT if re.search(_REBOL, text) else "r"


def _of_cls(text: str) -> str:
    if re.search(_LATEX_CLASS, text):
        return "latex"
    return "visual_basic" if re.search(_BASIC_CLASS, text) else TEXT


# Extension → its language by `language_of`, and what decides.
_BY_TEXT: dict[str, tuple[str, Callable[[str], str]]] = {
    "h": ("c", _of_header),
    "m": ("objc", _of_m),
    "pl": ("perl", _of_pl),
    "t": ("perl", _of_t),
    "r": ("r", _of_r),
    "cls": (TEXT, _of_cls),
}
