"""Which language a file is written in: by name, by extension, by its first line. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

TEXT = "text"

# Names are those of the bundled grammars where there is one; the parser takes the others as text.
_CODE = """
ada: adb ads
apl: apl
asm: asm s nasm
astro: astro
awk: awk
bash: sh bash zsh ksh bats ebuild eclass command
batch: bat cmd
c: c h
clojure: clj cljs cljc edn bb
cmake: cmake
cobol: cob cbl cpy
coffeescript: coffee cson
cpp: cc cpp cxx c++ hh hpp hxx h++ ipp inl tcc tpp txx cu cuh ixx cppm ino
crystal: cr
csharp: cs csx cake
d: d di
dart: dart
elixir: ex exs
elm: elm
embedded_template: erb ejs eta
emacs_lisp: el
erlang: erl hrl escript xrl yrl
fish: fish
fortran: f f77 f90 f95 f03 f08 f18 for ftn fpp
fsharp: fs fsi fsx
glsl: glsl vert frag geom comp tesc tese
go: go
gotmpl: tmpl gotmpl gohtml
graphql: graphql gql graphqls
groovy: groovy gradle gvy jenkinsfile
haml: haml slim pug jade
haskell: hs lhs hsc hs-boot
hcl: hcl tf tfvars
heex: heex leex eex
java: java
javascript: js jsx mjs cjs es6 jsm
jinja2: j2 jinja jinja2 njk
jsonnet: jsonnet libsonnet
julia: jl
just: just
kotlin: kt kts
lisp: lisp lsp asd
lua: lua luau rockspec
make: mk mak make
matlab: mlx
nim: nim nims
nix: nix
objc: m mm
ocaml: ml mli mll mly
pascal: pas dpr lpr
perl: pl pm t psgi pod
php: php php3 php4 php5 phtml phpt
powershell: ps1 psm1 psd1
prolog: prolog
proto: proto
python: py pyi pyw pyx pxd pxi
r: r
racket: rkt rktl
ruby: rb rake gemspec ru rbi rbs podspec thor jbuilder builder
rust: rs
scala: scala sc sbt mill
scheme: scm ss sld
solidity: sol
sql: sql ddl dml psql pgsql plsql tsql
starlark: bzl bazel star
svelte: svelte
swift: swift
tcl: tcl tk exp
thrift: thrift
tsx: tsx
typescript: ts mts cts
verilog: v vh sv svh
vhdl: vhd vhdl
vim: vim vimrc
visual_basic: vb vbs bas
vue: vue
wat: wat wast
wgsl: wgsl
zig: zig
"""
_PROSE = """
asciidoc: adoc asciidoc
latex: tex sty bib ltx
markdown: md markdown mdx mkd mkdn mdown livemd rmd
org: org
rst: rst rest
text: txt text
typst: typ
"""
_DATA = """
css: css
dtd: dtd
gitignore: gitignore dockerignore npmignore
html: html htm xhtml
ini: ini cfg conf desktop editorconfig service
json: json geojson jsonl ndjson webmanifest avsc har map
json5: json5
jsonc: jsonc code-workspace
kdl: kdl
less: less
properties: properties env
sass: sass styl
scss: scss
toml: toml
xml: xml xsd xsl xslt svg plist csproj vbproj fsproj props targets nuspec resx xaml storyboard xib pom wsdl rss atom
yaml: yaml yml
zon: zon
csv: csv tsv psv
"""
# Not texts as they are: `source/extraction` takes the text out of them.
_EXTRACTED = """
docx: docx
notebook: ipynb
pdf: pdf
"""
_FILE_NAMES = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "bsdmakefile": "make",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "guardfile": "ruby",
    "vagrantfile": "ruby",
    "podfile": "ruby",
    "fastfile": "ruby",
    "brewfile": "ruby",
    "capfile": "ruby",
    "thorfile": "ruby",
    "jenkinsfile": "groovy",
    "cmakelists.txt": "cmake",
    "justfile": "just",
    "build.bazel": "starlark",
    "tiltfile": "starlark",
    "pipfile": "toml",
    "cargo.lock": "toml",
    "poetry.lock": "toml",
    "uv.lock": "toml",
    "composer.lock": "json",
    "package.resolved": "json",
    ".babelrc": "json",
    ".eslintrc": "jsonc",
    ".prettierrc": "yaml",
    "tsconfig.json": "jsonc",
    ".clang-format": "yaml",
    ".clang-tidy": "yaml",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
    ".zshrc": "bash",
    "pkgbuild": "bash",
    ".vimrc": "vim",
    ".emacs": "emacs_lisp",
    ".gitconfig": "ini",
    ".gitmodules": "ini",
    ".npmrc": "ini",
    ".editorconfig": "ini",
    ".env": "properties",
    ".gitignore": "gitignore",
    ".gitattributes": "gitignore",
    "kconfig": "make",
    "rebar.config": "erlang",
    "mix.lock": "elixir",
    "meson.build": "python",
    "sconstruct": "python",
    "sconscript": "python",
    "wscript": "python",
    "dune": "ocaml",
}
_PROGRAMS = {
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "ksh": "bash",
    "dash": "bash",
    "ash": "bash",
    "bats": "bash",
    "fish": "fish",
    "python": "python",
    "pypy": "python",
    "uv": "python",
    "node": "javascript",
    "nodejs": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "ts-node": "typescript",
    "tsx": "typescript",
    "ruby": "ruby",
    "jruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "luajit": "lua",
    "elixir": "elixir",
    "escript": "erlang",
    "runhaskell": "haskell",
    "runghc": "haskell",
    "stack": "haskell",
    "scala": "scala",
    "scala-cli": "scala",
    "swift": "swift",
    "kotlin": "kotlin",
    "groovy": "groovy",
    "julia": "julia",
    "rscript": "r",
    "tclsh": "tcl",
    "expect": "tcl",
    "awk": "awk",
    "gawk": "awk",
    "make": "make",
    "pwsh": "powershell",
    "guile": "scheme",
    "racket": "racket",
    "clojure": "clojure",
    "bb": "clojure",
    "nix-shell": "nix",
    "just": "just",
}


def _languages(table: str) -> frozenset[str]:
    return frozenset(line.partition(":")[0] for line in table.split("\n") if line)


def _extensions(table: str) -> dict[str, str]:
    pairs = (line.split(": ") for line in table.split("\n") if line)
    return {extension: language for language, extensions in pairs for extension in extensions.split()}


CODE = _languages(_CODE) | {"dockerfile"}
PROSE = _languages(_PROSE)
LANGUAGES = CODE | PROSE | _languages(_DATA) | _languages(_EXTRACTED)
_BY_EXTENSION = _extensions(_CODE) | _extensions(_PROSE) | _extensions(_DATA) | _extensions(_EXTRACTED)
_ENDS_OF_EXTRACTED = tuple(f".{extension}" for extension in _extensions(_EXTRACTED))
_ENDS_OF_DOCUMENTS = (*_ENDS_OF_EXTRACTED, ".doc", ".dot")
_NO_CODE = _extensions("leavings: bak dat diff license lock log orig out patch pid po pot rej snap srt sum tmp")
# Names that people use, besides the extensions.
_OTHER_NAMES = {
    "c#": "csharp",
    "docker": "dockerfile",
    "f#": "fsharp",
    "golang": "go",
    "ipython": "python",
    "jupyter": "notebook",
    "node": "javascript",
    "nodejs": "javascript",
    "objective-c": "objc",
    "objectivec": "objc",
    "py3": "python",
    "python3": "python",
    "restructuredtext": "rst",
    "shell": "bash",
    "terraform": "hcl",
    "tex": "latex",
    "vb": "visual_basic",
    "word": "docx",
}

# Texts: a search that only knows the names of languages should not wait for their compilation.
_CPP = (
    r"(?m)^[ \t]*(?:(?:inline[ ]+)?namespace\b|template[ ]*<|using[ ]+[\w:]+[ ]*[=;]|(?:public|private|protected)[ ]*:"
    r"|class[ ]+\w[^;\n]*[{:]|#[ ]*include[ ]*<[a-z_]+>|static_assert\b|constexpr\b)|\bstd::|\bextern[ ]+\"C\+\+\""
)
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
    if language := _FILE_NAMES.get(name):
        return language
    _, dot, extension = name.rpartition(".")
    language = _BY_EXTENSION.get(extension, "") if dot else ""
    if extension == "ts" and first_line.startswith("<?xml"):
        return "xml"  # a translation file of Qt
    return language or _by_first_line(first_line) or TEXT


def is_extracted(path: str) -> bool:
    """Return True for a file that is no text itself, but has one: a PDF, a Word document or a notebook."""
    return path.lower().endswith(_ENDS_OF_EXTRACTED)


def is_document(path: str) -> bool:
    """Return True for a file that is never read as it is: its text is taken out of it, or nobody can do that."""
    return path.lower().endswith(_ENDS_OF_DOCUMENTS)


def may_be_code(path: str, language: str) -> bool:
    """Return True for code, and for a text whose ending no language here has, unless logs and the like have it."""
    if language in CODE:
        return True
    name, dot, extension = path.rsplit("/", 1)[-1].lower().rpartition(".")
    is_unknown = bool(name and dot and extension) and extension not in _BY_EXTENSION and extension not in _NO_CODE
    return language == TEXT and is_unknown


def language_named(name: str) -> str:
    """Return the language with this name, in any case: its own, another usual one, or an extension; "" for none."""
    folded = name.strip().lower().removeprefix(".")
    if folded in LANGUAGES:
        return folded
    return _OTHER_NAMES.get(folded) or _BY_EXTENSION.get(folded, "")


def extensions_of(language: str) -> list[str]:
    """Return the extensions by which files of a language are known, in order."""
    return sorted(extension for extension, name in _BY_EXTENSION.items() if name == language)


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
        return _PROGRAMS.get(name, "") or _PROGRAMS.get(name.rstrip("0123456789."), "")
    return ""


def _of_header(text: str) -> str:
    if re.search(_OBJC, text):
        return "objc"
    return "cpp" if re.search(_CPP, text) else "c"


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
