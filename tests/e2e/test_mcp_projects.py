"""Several projects in one session of `fathom mcp`: named by the call, or at the start of the session."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mcp_session import McpSession

from codefathom import Engine
from codefathom.askers.project_list import ProjectList


@pytest.fixture
def projects(shop: Path, tmp_path: Path) -> Path:
    """The shop; beside it, with names and in one group, a library and a project that cannot be opened."""
    library = tmp_path / "library"
    (library / "shelf").mkdir(parents=True)
    (library / "fathom.toml").touch()
    (library / "shelf" / "loan.py").write_text(
        "def price_of_loan(days):\n    return days * 20\n\n\nclass Loan:\n    pass\n"
    )
    (library / "shelf" / "desk.py").write_text("from shelf.loan import Loan\n\n\ndef lend():\n    return Loan()\n")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "fathom.toml").write_text("[search]\nlimit = 'many'\n")
    projects = ProjectList()
    projects.add(str(shop), groups=("ours",))
    projects.add(str(library), groups=("ours",))
    projects.add(str(broken))
    for root in (shop, library):
        with Engine.open(str(root)) as engine:
            engine.index()
    return tmp_path


def paths_of(content: dict) -> set[str]:
    return {hit["path"] for hit in content["hits"]}


def test_a_call_names_projects(projects: Path) -> None:
    with McpSession(projects / "shop") as session:
        alone = paths_of(session.content("search", query="price"))
        assert "shop/pricing.py" in alone
        assert all((projects / "shop" / path).exists() for path in alone)
        both = paths_of(session.content("search", query="price", projects=["shop", "library"]))
        assert {"shop/shop/pricing.py", "library/shelf/loan.py"} <= both
        assert paths_of(session.content("search", query="price", projects=["ours"])) == both
        assert paths_of(session.content("search", query="price", projects="ours")) == both
        library = paths_of(session.content("search", query="price", projects=[str(projects / "library")]))
        assert library
        assert all(path.startswith("library/shelf/") for path in library)
        kept = session.content("search", query="price", projects=["ours"], paths=["library/shelf", "shop/web"])
        assert {path.split("/")[0] for path in paths_of(kept)} <= {"library", "shop"}
        assert not any(path.startswith("shop/shop/") for path in paths_of(kept))
        one = session.content("search", query="price", projects=["ours"], paths=["library"])
        assert all(path.startswith("library/") for path in paths_of(one))


def test_all_tools_take_projects(projects: Path) -> None:
    with McpSession(projects / "shop") as session:
        text = session.content("read", path="library/shelf/loan.py", projects=["ours"])
        assert (text["path"], text["text"]) == (
            "library/shelf/loan.py",
            (projects / "library/shelf/loan.py").read_text().rstrip("\n"),
        )
        edges = session.content("related", target="@@Loan", projects=["ours"])["edges"]
        assert "library/shelf/desk.py" in {edge["path"] for edge in edges}
        of_file = session.content("related", target="library/shelf/loan.py", projects=["ours"])["edges"]
        assert {edge["path"] for edge in of_file} == {"library/shelf/desk.py"}
        outline = session.content("map", projects=["ours"])["outline"]
        assert "library/shelf/loan.py\n" in outline
        assert "shop/shop/pricing.py\n" in outline
        part = session.content("map", projects=["ours"], paths=["library/shelf"], files=["library/shelf/desk.py"])
        assert part["outline"].startswith("library/shelf/")
        assert "shop/shop" not in part["outline"]


def test_a_hit_of_another_project_can_be_read_later(projects: Path) -> None:
    with McpSession(projects / "shop") as session:
        assert session.content("read", path="library/shelf/loan.py:1-2")["text"].startswith("def price_of_loan")
        own = session.content("read", path="shop/pricing.py:6")  # the project has a folder of its own name
        assert own["start_line"] == 6
        assert own["path"] == "shop/pricing.py"
        assert "no such file in the index" in session.refusal("read", path="library/shelf/none.py")
        assert "no such file in the index" in session.refusal("read", path="elsewhere/none.py")


def test_what_a_session_was_started_with_is_asked(projects: Path) -> None:
    with McpSession(projects, "-p", "shop", "-p", str(projects / "library")) as session:
        assert {path.split("/")[0] for path in paths_of(session.content("search", query="price"))} == {
            "shop",
            "library",
        }
        assert all(
            path.startswith("shop/") for path in paths_of(session.content("search", query="price", projects=["shop"]))
        )
    with McpSession(projects, "--all") as session:
        result = session.call("search", query="price")
        assert {hit["path"].split("/")[0] for hit in result["structuredContent"]["hits"]} == {"shop", "library"}
        assert "broken: " in result["content"][0]["text"]  # named beside the others' hits
        assert "search.limit" in session.refusal("search", query="price", projects=["broken"])


@pytest.mark.parametrize("name", ["nobody", "/etc", "..", "../library", "", "sh*p"])
def test_an_unknown_project_is_answered_with_the_known_ones(projects: Path, name: str) -> None:
    with McpSession(projects / "shop") as session:
        for tool, arguments in (("search", {"query": "x"}), ("read", {"path": "x"}), ("map", {})):
            said = session.refusal(tool, projects=[name], **arguments)
            assert f"{name!r} is not a project of this session" in said
            assert "choose among broken, library, ours, shop" in said


def test_a_folder_that_is_no_project_leads_to_those_with_a_name(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(projects))
    with McpSession(projects) as session:
        said = session.refusal("search", query="price")
        assert "home folder" in said
        assert "name projects: broken, library, ours, shop" in said
        assert session.content("search", query="price", projects=["library"])["hits"]
