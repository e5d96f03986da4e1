"""An answer to an editor is of one state of the index, whatever other threads take in meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom import Engine

of_one_state = pytest.importorskip("codefathom.lsp.language_server").of_one_state


def test_an_answer_is_asked_again_where_the_index_changed_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "price.py"
    file.write_text("def price():\n    return 1\n")
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        lines: list[int] = []

        def work() -> int:
            (item,) = engine.symbols("price", kind="function")
            lines.append(item.symbol.name_line)
            if len(lines) == 1:  # as another thread does it between the question and the look at the file
                file.write_text("# one\n" + file.read_text())
                engine.take_in(["price.py"])
            return lines[-1]

        assert of_one_state(engine, work) == 2
        assert lines == [1, 2]
        assert of_one_state(engine, work) == 2
        assert len(lines) == 3
