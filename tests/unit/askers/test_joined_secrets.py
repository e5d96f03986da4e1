"""What the models of the first project are sent of the others: no secret, where these models are on other machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from codefathom import Engine
from codefathom.answer.ask import AnswerSources
from codefathom.askers.joined import JoinedProjects
from codefathom.config.settings import LlmSettings, Settings
from codefathom.question.question import Question

KEY = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "none.toml"))
    one, two = tmp_path / "one", tmp_path / "two"
    for root, text in ((one, "def feed(animal): ...\n"), (two, f'TOKEN = "{KEY}"\n\ndef pay(cart): ...\n')):
        root.mkdir()
        (root / "cart.py").write_text(text)
    yield one, two


@pytest.mark.parametrize(("base_url", "is_shown"), [("http://10.1.2.3/v1", False), ("http://localhost:9/v1", True)])
def test_the_models_of_the_first_project_decide(projects: tuple[Path, Path], base_url: str, is_shown: bool) -> None:
    remote = Settings(llm=LlmSettings(model="openai:m", base_url=base_url))
    one = Engine.open(str(projects[0]), settings=remote, is_root=True)
    two = Engine.open(str(projects[1]), settings=Settings(), is_root=True)
    question = Question("the token", "ask", pinned=("two/cart.py",), anyway=True)
    with JoinedProjects({"one": one, "two": two}) as joined, closing(cast(Any, joined.answer(question))) as events:
        sources = next(events)
    assert isinstance(sources, AnswerSources)
    (shown,) = [source.text for source in sources.sources if source.path == "two/cart.py"]
    assert (KEY in shown) is is_shown
