"""Languages by name, extension, first line and, where one extension serves several, by the text."""

from __future__ import annotations

import pytest
from semble_grammars import available_languages

from codefathom.facts.languages import (
    _BY_ENDING,
    CODE,
    LANGUAGES,
    PROSE,
    TABLE,
    extensions_of,
    is_document,
    is_extracted,
    language_named,
    language_of,
    marks_of,
    may_be_code,
    reason_unread,
    refine,
    titles_of_documents,
)
from codefathom.facts.reasons import Note


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("a.js", "javascript"),
        ("a.jsx", "javascript"),
        ("a.mjs", "javascript"),
        ("a.ts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.go", "go"),
        ("a.rs", "rust"),
        ("A.java", "java"),
        ("a.c", "c"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.cc", "cpp"),
        ("A.cs", "csharp"),
        ("a.rb", "ruby"),
        ("a.gemspec", "ruby"),
        ("a.php", "php"),
        ("a.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("build.gradle", "groovy"),
        ("a.swift", "swift"),
        ("a.scala", "scala"),
        ("build.sbt", "scala"),
        ("a.lua", "lua"),
        ("a.hs", "haskell"),
        ("a.exs", "elixir"),
        ("a.sh", "bash"),
        ("a.bats", "bash"),
        ("a.zig", "zig"),
        ("a.vue", "vue"),
        ("a.svelte", "svelte"),
        ("a.sql", "sql"),
        ("a.dart", "dart"),
        ("a.R", "r"),
        ("a.Rmd", "markdown"),
        ("A.pm", "perl"),
        ("a.t", "perl"),
        ("a.jl", "julia"),
        ("a.mli", "ocaml"),
        ("a.sol", "solidity"),
        ("main.tf", "hcl"),
        ("a.tfvars", "hcl"),
        ("a.mm", "objc"),
        ("a.hrl", "erlang"),
        ("a.cljs", "clojure"),
        ("Jenkinsfile", "groovy"),
        ("a.psm1", "powershell"),
        ("a.F90", "fortran"),
        ("a.ftn", "fortran"),
        ("a.html.erb", "embedded_template"),
        ("a.md", "markdown"),
        ("a.rst", "rst"),
        ("a.toml", "toml"),
        ("a.yml", "yaml"),
        ("a.json", "json"),
        ("tsconfig.json", "jsonc"),
        ("App.csproj", "xml"),
        ("a.css", "css"),
        ("a.scss", "scss"),
        ("A.PY", "python"),
        ("dir.py/Makefile", "make"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Rakefile", "ruby"),
        ("CMakeLists.txt", "cmake"),
        ("notes.txt", "text"),
        ("BUILD", "starlark"),
        ("tools/WORKSPACE", "starlark"),
        ("workspace", "text"),
        ("build", "text"),
        ("LICENSE", "text"),
        ("unknown.qqq", "text"),
        ("trailing.", "text"),
        (".gitignore", "gitignore"),
        (".py", "python"),
        ("", "text"),
    ],
)
def test_language_of_a_path(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "first_line", "language"),
    [
        ("run", "#!/bin/sh -e", "bash"),
        ("run", "#! /usr/bin/env python3.12", "python"),
        ("run", "#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("run", "#!/usr/bin/env LANG=C ruby", "ruby"),
        ("run", "#!", "text"),
        ("run", "#!/usr/bin/env", "text"),
        ("run", "#!/opt/bin/unheard-of", "text"),
        ("build", "#!/bin/bash", "bash"),
        ("page", "<!DOCTYPE html>", "html"),
        ("page", "<?php declare(strict_types=1);", "php"),
        ("data", '<?xml version="1.0"?>', "xml"),
        ("vector", "// The vector header  -*- C++ -*-", "cpp"),
        ("page", "  <HTML lang=en>", "html"),
        ("script", "#!/usr/local/bin/Ruby3", "ruby"),
        ("script", "#!perl/5/bin/perl", "perl"),
        ("script", "#!/usr/bin/env -S", "text"),
        ("header", "// -*- mode: c++ -*- of 1997", "cpp"),
        ("header", "c++ -*-", "text"),
        ("x.unknown", "plain words about html", "text"),
        ("de.ts", '<?xml version="1.0"?>', "xml"),
        ("run.py", "#!/bin/sh", "python"),
    ],
)
def test_first_line_tells_what_the_name_does_not(path: str, first_line: str, language: str) -> None:
    assert language_of(path, first_line) == language


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.h", "#include <stdio.h>\nstruct a { int b; };\nint f(void);\n", "c"),
        ("a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\nvoid f(void);\n', "c"),
        ("a.h", "/* the class of std errors: public, private */\n#define template(x) x\n", "c"),
        ("a.h", "#pragma once\nnamespace a {\n", "cpp"),
        ("a.h", "template <typename T>\nT f();\n", "cpp"),
        ("a.h", "class Widget final : public Base {\n", "cpp"),
        ("a.h", "#include <vector>\n", "cpp"),
        ("a.h", "  std::string name();\n", "cpp"),
        ("a.h", "#import <UIKit/UIKit.h>\n@interface A : NSObject\n@end\n", "objc"),
        ("a.m", '#import "A.h"\n@implementation A\n@end\n', "objc"),
        ("a.m", "% solves\nfunction x = solve(a)\nend\n", "matlab"),
        ("a.m", "classdef Order < handle\nend\n", "matlab"),
        ("a.m", "function x = solve(a)\n@property\nend\n", "objc"),
        ("a.m", '(* A package. *)\nBeginPackage["A`"]\n', "text"),
        ("a.m", "#include <stdio.h>\nint main(void) { return 0; }\n", "objc"),
        ("a.pl", "#!/usr/bin/perl\nprint 1;\n", "perl"),
        ("a.pl", "use strict;\nmy $x = 1;\n", "perl"),
        ("a.pl", "% parents\nparent(ann, bob).\nold(X) :- parent(X, _).\n", "prolog"),
        ("a.pl", ":- use_module(library(lists)).\n", "prolog"),
        ("a.pl", 'print("x");\n', "perl"),
        ("a.t", "use Test::More;\nok(1);\n", "perl"),
        ("a.t", "  $ fathom status\n  ok\n", "text"),
        ("a.r", "x <- 1\n", "r"),
        ("a.r", 'REBOL [Title: "A"]\n', "text"),
        ("a.cls", "\\NeedsTeXFormat{LaTeX2e}\n\\ProvidesClass{a}\n", "latex"),
        ("a.cls", "VERSION 1.0 CLASS\r\nBEGIN\r\n", "visual_basic"),
        ("a.cls", "public class Order { }\n", "text"),
        ("a.H", "@interface A\n@end\n", "objc"),
        ("a.tf", 'resource "a" "b" {}\n', "hcl"),
        ("a.hpp", "int f(void);\n", "cpp"),
        ("a.py", "namespace = 1\n", "python"),
    ],
)
def test_the_text_decides_between_languages_of_one_extension(path: str, text: str, language: str) -> None:
    assert refine(path, language_of(path), text) == language


def test_classes_do_not_overlap_and_know_what_the_parser_knows() -> None:
    assert not CODE & PROSE
    # parts and dialects that no file is wholly written in
    assert set(available_languages()) - CODE - set(_BY_ENDING.values()) == {"markdown_inline", "php_only"}


def test_every_ending_name_program_and_alias_belongs_to_one_language() -> None:
    for column in ("endings", "files", "programs", "aliases"):
        words = [word for language in TABLE for word in getattr(language, column).split()]
        assert len(words) == len(set(words)), column
        assert words == [word.lower() for word in words], column
    assert len(LANGUAGES) == len(TABLE)


@pytest.mark.parametrize(
    ("path", "extracted", "document"),
    [
        ("a/Offer.PDF", True, True),
        ("a.docx", True, True),
        ("a.ipynb", True, True),
        ("a.rtf", True, True),
        ("a.DOC", False, True),
        ("a.md", False, False),
        ("pdf", False, False),
    ],
)
def test_documents_are_read_by_taking_their_text_out(path: str, extracted: bool, document: bool) -> None:
    assert (is_extracted(path), is_document(path)) == (extracted, document)
    assert bool(reason_unread(path)) == (document and not extracted)


def test_the_reason_why_a_document_is_not_read_has_a_remedy() -> None:
    assert str(Note(reason_unread("A.DOC"))) == "the format of Word before 2007 is not read; save it as .docx"
    assert reason_unread("a.docx") == reason_unread("") == ""


@pytest.mark.parametrize(
    ("language", "marks"),
    [("pdf", "pages"), ("docx", "headings"), ("rtf", "headings"), ("notebook", "cells"), ("python", ""), ("", "")],
)
def test_parts_of_a_document(language: str, marks: str) -> None:
    assert marks_of(language) == marks


def test_the_kinds_of_documents_in_words() -> None:
    assert titles_of_documents() == "PDF, Word document, RTF document or notebook"


@pytest.mark.parametrize(
    ("path", "is_code"),
    [
        ("a.py", True),
        ("t/basic.t", True),
        ("src/a.brainfuck", True),  # an ending that no language here has
        ("src/A.XYZ", True),
        ("README.md", False),
        ("a.json", False),
        ("notes.txt", False),
        ("server.log", False),
        ("uv.LOCK", False),
        ("a.orig", False),
        ("Makefile.old/notes", False),
        ("v1.2/notes", False),
        ("LICENSE", False),
        (".hidden", False),
        ("trailing.", False),
    ],
)
def test_a_text_of_an_unknown_ending_may_be_code(path: str, is_code: bool) -> None:
    assert may_be_code(path, language_of(path)) == is_code


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("python", "python"),
        (" Python ", "python"),
        ("py", "python"),
        (".py", "python"),
        (".PYI", "python"),
        ("golang", "go"),
        ("C#", "csharp"),
        ("shell", "bash"),
        ("f#", "fsharp"),
        ("word", "docx"),
        ("nothing", ""),
        ("", ""),
    ],
)
def test_a_language_is_known_by_its_names(name: str, language: str) -> None:
    assert language_named(name) == language


def test_the_endings_of_a_language_are_in_order() -> None:
    assert extensions_of("markdown") == ["livemd", "markdown", "md", "mdown", "mdx", "mkd", "mkdn", "rmd"]
    assert extensions_of("c") == ["c", "h"]
    assert extensions_of("nothing") == []


def test_only_the_usual_language_of_an_ending_is_decided_by_the_text() -> None:
    objc = "@interface Cart : NSObject\n@end\n"
    assert refine("v1.2/cart.H", "c", objc) == "objc"
    assert refine("cart.h", "cpp", objc) == "cpp"
    assert refine("cart.c", "c", objc) == "c"
    assert refine("h", "c", objc) == "objc"
    late = " " * 60_000 + "\n" + objc
    assert refine("cart.h", "c", late) == "c"
