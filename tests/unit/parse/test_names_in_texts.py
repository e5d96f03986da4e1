"""Names that people search for are symbols in texts, too: headings of all forms of prose, jobs of a CI."""

from __future__ import annotations

import pytest

from codefathom.parse import parse
from codefathom.types import Document


def outline(path: str, language: str, text: str) -> list[str]:
    document = parse(Document(path, language, text, "f1", len(text)))
    return [f"{item.kind} {item.qualified_name} {item.start_line}-{item.end_line}" for item in document.symbols]


HEADINGS = {
    "asciidoc": "= The shop\n\nText.\n\n== Opening *hours*\n----\n== no heading\n----\n=== Sunday\n",
    "org": "* The shop\nText.\n\n** TODO Opening *hours* :time:\n"
    "#+begin_src sh\n* no heading\n#+end_src\n\n*** Sunday\n",
    "latex": "\\section{The shop}\nText.\n\n\\subsection{Opening \\emph{hours}}\n"
    "\\begin{verbatim}\n\\section{no heading}\n\\end{verbatim}\n% \\section{no}\n\\subsubsection*{Sunday}\n",
    "typst": "= The shop\nText.\n\n== Opening *hours* <hours>\n```\n= no heading\n```\n\n=== Sunday\n",
}


@pytest.mark.parametrize("language", HEADINGS)
def test_headings_of_each_form_of_prose_are_sections(language: str) -> None:
    found = outline("docs/shop.x", language, HEADINGS[language])
    names = [line.partition(" ")[2].rpartition(" ")[0].split(" > ") for line in found]
    assert [len(path) for path in names] == [1, 2, 3]
    assert (names[0], names[2][-1]) == (["The shop"], "Sunday")
    assert names[1][1].startswith("Opening")


WORKFLOW = "name: Tests\non:\n  push:\njobs:\n  unit:\n    steps:\n      - run: make\n  deploy-all:\n    needs: unit\n"
GITLAB = (
    "stages:\n  - a\nvariables:\n  A: b\n"
    "unit test:\n  script:\n    - make\n.hidden:\n  script:\n    - a\ndeploy:\n  script:\n    - b\n"
)
AZURE = """\
trigger: [main]
jobs:
- job: unit
  steps:
  - script: make test
  - job_like: x
- deployment: 'to shop'
  environment: shop
  # - job: no
- template: more.yml
- ${{ if eq(a, b) }}:
  - job: nightly
    steps: []
"""
STAGES = """\
stages:
  - stage: Build
    jobs:
      - job: pack
        steps: []
      - job: ${{ parameters.name }}
  - stage: Ship
    jobs:
      - deployment: ship
"""


@pytest.mark.parametrize(
    ("path", "text", "jobs"),
    [
        ("azure-pipelines.yml", AZURE, ["function unit 3-6", "function to shop 7-9", "function nightly 12-13"]),
        (
            ".azure-pipelines/build.yaml",
            STAGES,
            ["module Build 2-6", "function Build.pack 4-5", "module Ship 7-9", "function Ship.ship 9-9"],
        ),
        ("ci/azure-pipelines-nightly.yml", "jobs:\n- job: a\n", ["function a 2-2"]),
        ("deploy/values.yml", AZURE, []),
        (".github/workflows/test.yml", WORKFLOW, ["function unit 5-7", "function deploy-all 8-9"]),
        ("shop/.forgejo/workflows/test.yaml", WORKFLOW, ["function unit 5-7", "function deploy-all 8-9"]),
        (".gitlab-ci.yml", GITLAB, ["function unit test 5-7", "function deploy 11-13"]),
        ("config/jobs.yml", WORKFLOW, []),
    ],
)
def test_jobs_of_a_ci_are_symbols(path: str, text: str, jobs: list[str]) -> None:
    assert outline(path, "yaml", text) == jobs


def test_locals_and_blocks_of_terraform_are_symbols() -> None:
    text = 'locals {\n  width = 3\n  names = ["a"]\n}\nmodule "shop" {\n  source = "./shop"\n}\n'
    assert [line.split()[1] for line in outline("main.tf", "hcl", text)] == ["width", "names", "shop"]


SQL = [
    ("CREATE FUNCTION shop.price(n int) RETURNS int AS $$ BEGIN RETURN n; END; $$ LANGUAGE plpgsql;\n", "shop.price"),
    ("CREATE OR REPLACE PROCEDURE close_day(n IN NUMBER) IS\nBEGIN\n  NULL;\nEND close_day;\n/\n", "close_day"),
    ("CREATE PROCEDURE [dbo].[CloseDay] @n int AS\nBEGIN\n  SELECT 1\nEND\nGO\n", "dbo.CloseDay"),
    ("CREATE OR ALTER PROC dbo.OpenDay AS\nSELECT 1\nGO\n", "dbo.OpenDay"),
    (
        "CREATE OR REPLACE PACKAGE BODY shop_day AS\n  PROCEDURE open_it IS\n  BEGIN\n    NULL;\n  END;\nEND;\n/\n",
        "shop_day",
    ),
]


@pytest.mark.parametrize(("text", "name"), SQL)
def test_procedures_and_functions_of_sql_are_symbols(text: str, name: str) -> None:
    assert name in {line.split()[1] for line in outline("day.sql", "sql", text)}


COBOL = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOP.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 WS-CUSTOMER.
           COPY CUSTOMER.
      *    COPY OLDONE.
           copy 'books/order.cpy' replacing ==A== by ==B==.
           COPY STOCK OF SHOPLIB.
           EXEC SQL INCLUDE SQLCA END-EXEC.
       PROCEDURE DIVISION.
       MAIN-PART.
           DISPLAY 'COPY FAILED'.
           MOVE A TO COPY-COUNT.
           COPY CUSTOMER.
"""


def test_a_copybook_is_an_import() -> None:
    document = parse(Document("src/shop.cbl", "cobol", COBOL, "f1", len(COBOL)))
    found = [(item.kind, item.name, item.line, item.container) for item in document.references]
    assert found == [
        ("import", "CUSTOMER", 6, "WS-CUSTOMER"),
        ("import", "books/order.cpy", 8, "WS-CUSTOMER"),
        ("import", "STOCK", 9, "WS-CUSTOMER"),
        ("import", "SQLCA", 10, "WS-CUSTOMER"),
        ("import", "CUSTOMER", 15, "MAIN-PART"),
    ]
