"""What the server can send and the page must be able to say in Chinese: codes, kinds, states, phrases."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from playwright.sync_api import Page, expect

from codefathom.facts.reasons import ENGLISH
from codefathom.server.http import error_responses, problem_json
from codefathom.server.jobs import job_queue
from codefathom.server.jobs.job_table import STATES
from codefathom.server.schemas.project_schemas import ProjectOut
from codefathom.types import SYMBOL_KINDS

from .conftest import ServedPage

WEB = Path(__file__).parents[2] / "web" / "src"


def keys(prefix: str, file: str = "i18n/server-text.ts") -> set[str]:
    """Return the ends of the keys of the page that begin like this."""
    text = (WEB / file).read_text(encoding="utf-8")
    return set(re.findall(rf'^  "{re.escape(prefix)}([^"]+)":', text, re.MULTILINE))


def subclasses(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def codes() -> set[str]:
    """Return every code of an error that the server can send."""
    kinds = (problem_json.RequestError, *subclasses(problem_json.RequestError))
    return (
        {kind.code for kind in kinds}
        | {code for _, _, code in problem_json._STATUS_OF}
        | set(error_responses._CODES.values())
        | {problem_json.problem_of(ZeroDivisionError()).code, "invalid", "refused"}
        | {"interrupted", "crashed", "no_grammar"}  # of jobs
    )


def test_each_code_of_an_error_has_a_text() -> None:
    assert codes() <= keys("problem.")
    assert keys("problem.") - codes() == {"unknown"}
    assert {"interrupted"} <= set(re.findall(r'"(interrupted|crashed)"', inspect.getsource(job_queue)))


def test_each_kind_of_symbol_has_a_text() -> None:
    assert set(SYMBOL_KINDS) <= keys("kind.")


def test_each_state_has_a_text() -> None:
    states = get_args(ProjectOut.model_fields["status"].annotation)
    assert states
    assert set(states) <= keys("projects.status.", "projects/text.ts")
    assert set(STATES) <= keys("projects.history.", "projects/text.ts")


def test_each_kind_of_note_has_words_in_both_languages() -> None:
    table = (WEB / "i18n" / "kinds-zh.ts").read_text(encoding="utf-8")
    rows = re.findall(r"""^  (\w+):\s+(["'])(.*)\2,$""", table, re.MULTILINE)
    chinese = {kind: words for kind, _, words in rows}
    assert chinese.keys() == ENGLISH.keys()
    assert {kind: values(words) for kind, words in ENGLISH.items()} == {
        kind: values(words) for kind, words in chinese.items()
    }
    assert [kind for kind, words in chinese.items() if words.isascii()] == ["verbatim", "all_of"]


def values(words: str) -> list[str]:
    """Return the names of the values that some words have room for."""
    return sorted(re.findall(r"{(\w+)", words))


def test_the_chinese_page_shows_reasons_kinds_states_and_errors_in_chinese(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(served.url)
    page.evaluate("localStorage.setItem('fathom.language', 'zh')")
    page.goto(f"{served.url}/search?q=price_of+cart")
    expect(page.locator(".hit-reason").first).to_have_text(re.compile("定义|名称|提到|含义相近"))
    assert page.locator(".hit-reason [lang=en]").count() == 0
    kinds = page.locator(".hit-name .soft").all_inner_texts()
    assert kinds
    assert not [kind for kind in kinds if kind.isascii()]
    page.goto(f"{served.url}/search?q=callers+of+nobody_here&mode=graph")
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("无法理解这个问题")
    expect(trouble.locator("[lang=en]").first).to_contain_text("no symbol is called")
    page.goto(f"{served.url}/monitoring")
    services = page.locator(".checks").first
    expect(services).to_contain_text("向量模型")
    expect(services).to_contain_text("256 维")
    expect(services).to_contain_text("回答由摘录组成")
    expect(services).to_contain_text("若要以文字回答，请设置")
    (served.shop / "fathom.toml").write_text("[search]\nlimit = 0\n", encoding="utf-8")
    page.goto(f"{served.url}/projects")
    expect(page.get_by_text("失败")).to_be_visible()
    expect(page.locator(".card-problem [lang=en]")).to_contain_text("search.limit")
