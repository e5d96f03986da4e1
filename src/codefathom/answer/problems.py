"""Notes on models that failed: those with the same cause become one note. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codefathom.facts.reasons import MODEL_FAILED, MODELS_FAILED, Note, Told


def model_failed(role: str, cause: object) -> Note:
    """Return the note that the model of a role, such as "judging", failed, with the cause."""
    return _failed([role], str(cause))


def merge_failures(problems: Iterable[Told]) -> tuple[Told, ...]:
    """Return the problems in their order, each once: models that failed for the same cause become one problem."""
    merged: dict[Told, list[str]] = {}  # the roles by their cause; none for a problem of another kind
    for problem in dict.fromkeys(problems):
        if roles := _roles_of(problem):
            causes = [cause for cause in merged if isinstance(cause, str)]
            merged.setdefault(_same_cause(_cause_of(problem), causes), []).extend(roles)
        else:
            merged[problem] = []
    return tuple(_failed(list(dict.fromkeys(roles)), str(cause)) if roles else cause for cause, roles in merged.items())


def failure_of(role: str, problems: Iterable[Told]) -> str:
    """Return the problem with the reason why the model of a role failed, "" if there is none."""
    return next((str(problem) for problem in problems if role in _roles_of(problem)), "")


def _failed(roles: Sequence[str], cause: str) -> Note:
    if len(roles) == 1:
        return Note(MODEL_FAILED, {"roles": tuple(roles), "cause": cause})
    return Note(MODELS_FAILED, {"roles": tuple(roles[:-1]), "last": roles[-1], "cause": cause})


def _roles_of(problem: Told) -> tuple[str, ...]:
    """Return the roles whose models failed; none for a problem of another kind."""
    if isinstance(problem, str) or problem.kind not in (MODEL_FAILED, MODELS_FAILED):
        return ()
    roles, last = problem.values["roles"], problem.values.get("last")
    return (*(roles if isinstance(roles, tuple) else ()), *([last] if isinstance(last, str) else []))


def _cause_of(problem: Told) -> str:
    return problem if isinstance(problem, str) else str(problem.values["cause"])


def _same_cause(cause: str, causes: Iterable[str]) -> str:
    """Return the same cause as it was told before; a server that is left alone repeats why, after its own words."""
    return next((earlier for earlier in causes if earlier.endswith(cause) or cause.endswith(f": {earlier}")), cause)
