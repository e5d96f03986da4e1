"""Sentences about models that failed: those with the same cause become one sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FAILED = re.compile(r"the (?P<role>\w+) model failed: (?P<cause>.+)", re.DOTALL)


def model_failed(role: str, cause: object) -> str:
    """Return the sentence that the model of a role, such as "judging", failed, with the cause."""
    return f"the {role} model failed: {cause}"


def merge_failures(problems: Iterable[str]) -> tuple[str, ...]:
    """Return the problems in their order, each once: models that failed for the same cause become one problem."""
    roles_of: dict[str, list[str]] = {}  # by cause; none for a problem of another kind
    for problem in dict.fromkeys(problems):
        failed = _FAILED.fullmatch(problem)
        if failed is None:
            roles_of[problem] = []
        else:
            roles_of.setdefault(_same_cause(failed["cause"], roles_of), []).append(failed["role"])
    return tuple(_together(list(dict.fromkeys(roles)), cause) if roles else cause for cause, roles in roles_of.items())


def failure_of(role: str, problems: Iterable[str]) -> str:
    """Return the problem with the reason why the model of a role failed, "" if there is none."""
    return next((text for text in problems if re.match(rf"the [\w, ]*\b{role} models? failed: ", text)), "")


def _same_cause(cause: str, causes: Iterable[str]) -> str:
    """Return the same cause as it was told before; a server that is left alone repeats why, after its own words."""
    return next((earlier for earlier in causes if earlier.endswith(cause) or cause.endswith(f": {earlier}")), cause)


def _together(roles: Sequence[str], cause: str) -> str:
    if len(roles) == 1:
        return model_failed(roles[0], cause)
    return f"the {', '.join(roles[:-1])} and {roles[-1]} models failed: {cause}"
