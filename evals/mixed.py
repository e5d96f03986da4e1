"""The memory of a server under mixed load: searches, answers of a scripted model, tools, index jobs, changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.protocols.server import serving as serving_model
from tests.web.conftest import replied

from evals.metrics import mean
from evals.report import table
from evals.trials.served import HeldAt, ServedLoad

CLIENTS = 8
_SHOWN_ERRORS = 10
FLAT = 1.05  # the last third of the time to the one before it, of a memory that is called flat
_ANSWER = "It adds up the values of all orders [pack1/m1.py:4-6]."
_OWN = ("FATHOM_CACHE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME")


@dataclass(frozen=True, slots=True)
class MixedLoad:
    """What a time of mixed load took."""

    minutes: float
    done: Mapping[str, int]  # requests by route
    errors: Sequence[str]
    held: Sequence[HeldAt]


def mixed_load(folder: Path, minutes: float) -> MixedLoad:
    """Run a server of its own under this load."""
    folder.mkdir()
    own = {name: str(folder / name.lower()) for name in _OWN} | {"FATHOM_ANSWER__LEAST_CONFIDENCE": "0"}
    with serving_model(replied(_ANSWER)) as model, _environment(own | _model_at(f"{model.base_url}/v1")):
        load = ServedLoad(folder, seed=1)
        load.run(CLIENTS, seconds=60 * minutes)
    return MixedLoad(minutes, dict(load.done.most_common()), load.errors, load.held)


def about_mixed_load(mixed: MixedLoad) -> Iterator[str]:
    """Say what was done, and how much memory there was at the beginning, in the middle and at the end."""
    calls = ", ".join(f"`{route}` {number}" for route, number in mixed.done.items())
    yield (
        f"{CLIENTS} clients for {mixed.minutes:g} minutes, with a scripted model; one request in three is left before "
        "its answer has come.\nMeanwhile a file of the project changes twice in a second, and the server watches it.\n"
        f"Requests: {sum(mixed.done.values())} ({calls}). Errors: {len(mixed.errors)} (goal: 0)."
    )
    if mixed.errors:
        yield "\n".join(f"- {error}" for error in mixed.errors[:_SHOWN_ERRORS])
    if not mixed.held:
        return
    thirds = [mixed.held[len(mixed.held) * part // 3 : len(mixed.held) * (part + 1) // 3] for part in range(3)]
    names = ("first third", "second third", "last third")
    yield table(
        ("mean memory (MB)", "server", "its processes"),
        [
            (name, _mb([one.server for one in third]), _mb([one.others for one in third]))
            for name, third in zip(names, thirds, strict=True)
            if third
        ],
    )
    if all(thirds):
        ratio = mean([one.server for one in thirds[2]]) / max(mean([one.server for one in thirds[1]]), 1)
        yield (
            f"The memory of the server in the last third is {ratio:.3f} times that of the third before: "
            f"{'flat' if ratio <= FLAT else 'growing'} (it is called flat up to {FLAT:g})."
        )


def _model_at(address: str) -> dict[str, str]:
    return {"FATHOM_LLM__MODEL": f"openai:scripted@{address}"}


def _mb(held: Sequence[int]) -> str:
    return f"{mean(held) / 1e6:.1f}"


@contextmanager
def _environment(own: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("FATHOM_", "XDG_"))]:
        del os.environ[name]
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
