"""The values that flow: each name of a subject can be had from `codefathom.types`, and is loaded no sooner."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom import types

SUBJECTS = {path.stem: path for path in Path(types.__file__).parent.glob("*.py") if path.stem != "__init__"}


def names_in(path: Path) -> Iterator[str]:
    """The public names that a module defines."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [node.name] if isinstance(node, ast.ClassDef) else []
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names += [target.id for target in targets if isinstance(target, ast.Name)]
        yield from (name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_name_of_a_subject_can_be_had(subject: str) -> None:
    module = __import__(f"codefathom.types.{subject}", fromlist=[subject])
    names = set(names_in(SUBJECTS[subject]))
    assert names
    assert names <= set(dir(types))
    assert all(getattr(types, name) is getattr(module, name) for name in names)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="Hits"):
        _ = types.Hits  # type: ignore[attr-defined]


def test_a_name_loads_its_subject_alone() -> None:
    program = "import sys; from codefathom.types import Prices; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    assert {name for name in ran.stdout.split() if name.startswith("codefathom.types.")} == {"codefathom.types.prices"}
