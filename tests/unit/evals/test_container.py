"""The Dockerfile is one that the trial understands, and keeps what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from evals.trials.container import Step, read_dockerfile

ROOT = Path(__file__).parents[3]
STEPS = read_dockerfile((ROOT / "Dockerfile").read_text(encoding="utf-8"))


def last(name: str) -> str:
    return [step.text for step in STEPS if step.name == name][-1]


def test_the_container_is_not_run_by_root_and_keeps_its_data_in_one_place() -> None:
    assert last("USER") == "fathom"
    assert last("VOLUME") == "/data"
    written = [
        pair.partition("=")[2]
        for pair in last("ENV").split()
        if pair.startswith(("FATHOM_CACHE_DIR", "FATHOM_INDEX_DIR", "XDG_STATE_HOME", "FATHOM_SERVER__DATA_DIR"))
    ]
    assert len(written) == 4
    assert all(place.startswith("/data/") for place in written)


def test_only_the_wheel_is_sent_to_docker() -> None:
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8") == "*\n!dist/*.whl\n"
    assert {step.text for step in STEPS if step.name == "COPY"} == {
        "dist/*.whl /tmp/",
        "--from=build /opt/fathom /opt/fathom",
    }


def test_steps_are_read_over_several_lines() -> None:
    text = "# a\nFROM x AS y\nRUN a \\\n    # inside\n    && b\n\nENV A=1 \\\n    B=2\n"
    steps = [Step(step.name, " ".join(step.text.split())) for step in read_dockerfile(text)]
    assert steps == [Step("FROM", "x AS y"), Step("RUN", "a && b"), Step("ENV", "A=1 B=2")]


def test_an_instruction_without_a_trial_is_an_error() -> None:
    with pytest.raises(ValueError, match="SHELL"):
        read_dockerfile("FROM x\nSHELL y\n")
