"""Errors as problem+json (RFC 9457): every failure has type, title, status, detail, code and, where known, a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

from codefathom.errors import (
    DamagedError,
    FathomError,
    FirstRunError,
    LockedError,
    MismatchError,
    MovedError,
    ProviderError,
    SettingsError,
    SlowExpressionError,
    SourceError,
    StoreAwayError,
    StoreError,
    UsageError,
)
from codefathom.facts.reasons import Note
from codefathom.facts.remedies import over_http
from codefathom.shapes import notes_shape

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:codefathom:problem:"


class RequestError(FathomError):
    """A request that cannot be answered, with the status and the code that say why."""

    status = 400
    code = "bad_request"


class ClosedError(RequestError):
    """A setting may not be changed over HTTP, or not to this value."""

    code = "closed"


class UnauthorizedError(RequestError):
    """The request has no token, or a wrong one."""

    status = 401
    code = "unauthorized"


class SignInRequiredError(UnauthorizedError):
    """The request has no token, and its sender can sign in at the provider."""

    code = "sign_in_required"


class SignInFailedError(RequestError):
    """Signing in at the provider did not work."""

    status = 403
    code = "sign_in_failed"


class SignInRefusedError(SignInFailedError):
    """The person or the provider has refused the sign-in."""

    code = "sign_in_refused"


class SignInUnknownError(SignInFailedError):
    """The provider knows the person, and no line of `server.roles` is about it."""

    code = "sign_in_unknown"


class SignInClockError(SignInFailedError):
    """The clocks of the provider and of this machine differ."""

    code = "sign_in_clock"


class SignInSettingsError(SignInFailedError):
    """Provider and server do not fit together: the settings of one of them are wrong."""

    status = 503
    code = "sign_in_settings"


class SignInAwayError(SignInFailedError):
    """The provider cannot be reached."""

    status = 503
    code = "sign_in_away"


class ForbiddenError(RequestError):
    """The caller may not do this."""

    status = 403
    code = "forbidden"


class NotFoundError(RequestError):
    """There is no such project, job, file or conversation."""

    status = 404
    code = "not_found"


class LateError(RequestError):
    """The request did not arrive in time."""

    status = 408
    code = "timeout"


class NotIndexedError(RequestError):
    """The project has no index yet."""

    status = 409
    code = "not_indexed"


class ConflictError(RequestError):
    """Something is in the way, such as a project at the same place."""

    status = 409
    code = "conflict"


class TooLargeError(RequestError):
    """The body of the request is too large."""

    status = 413
    code = "too_large"


class TryLaterError(RequestError):
    """The request is refused for now; `wait_s` is when to try again."""

    def __init__(self, message: str, *, hint: str | Note = "", wait_s: float = 1.0) -> None:
        super().__init__(message, hint=hint or f"try again in {ceil(wait_s)} s")
        self.wait_s = wait_s


class TooManyError(TryLaterError):
    """The caller sends too much."""

    status = 429
    code = "too_many_requests"


class NotInstalledError(RequestError):
    """A part of the server lacks a library."""

    status = 501
    code = "not_installed"


class BusyError(TryLaterError):
    """The server does as much at the same time as it may, and the caller has no larger part in that than others."""

    status = 503
    code = "busy"


class WorkerDiedError(RequestError):
    """The process that worked on the request has died; the server has another one for the next."""

    status = 503
    code = "worker_died"


class LeftError(RequestError):
    """The client has disconnected, and does not see this error."""

    status = 499
    code = "left"


class Delay(NamedTuple):
    """A reason why a request takes long."""

    cause: str  # "" for the search itself
    remedy: str


SLOW_SEARCH = Delay("", "search in one folder only, use a simpler expression or a smaller diff, or try again later")
IN_THE_QUEUE = Delay(
    "it waited for its turn behind other searches",
    "try again later, or carry out more searches at a time with server.search_processes",
)


def taking_in(project_id: str, *, is_written: bool) -> Delay:
    """Return the delay by files that are taken in before a search, behind another run where that writes the index."""
    if is_written:
        cause = f"it waited for the run that is writing the index of {project_id!r}"
        return Delay(cause, "ask again when that run has ended")
    return Delay(f"it took in the named files of {project_id!r}", "name fewer files")


def bringing_up(project_id: str) -> Delay:
    """Return the delay by an index that has to follow its files."""
    return Delay(f"it waited until the index of {project_id!r} was up to date", "ask again in a moment")


class SlowError(RequestError):
    """The request takes longer than its time limit."""

    status = 504
    code = "too_slow"

    def __init__(self, limit_s: float, delay: Delay = SLOW_SEARCH) -> None:
        cause = f": most of the time {delay.cause}" if delay.cause else ""
        super().__init__(
            f"the search was not finished after {limit_s:g} s{cause}",
            hint=f"{delay.remedy}; see server.search_timeout_s",
        )


class SlowUpdateError(RequestError):
    """Named files are not in the index within the time limit."""

    status = 504
    code = "too_slow"

    def __init__(self, limit_s: float, *, is_written: bool = False) -> None:
        hint = "name fewer files, or index the whole project with POST /projects/{project_id}/index"
        cause = ": another run is writing the index" if is_written else ""
        hint = "ask again when it has ended" if is_written else hint
        super().__init__(f"the files were not in the index after {limit_s:g} s{cause}", hint=hint)


@dataclass(frozen=True, slots=True)
class Problem:
    """The answer to a failed request."""

    status: int
    title: str
    detail: str
    code: str
    hint: str = ""
    detail_parts: Sequence[Mapping[str, Any]] = ()  # notes, where the sentences are made of them
    hint_parts: Sequence[Mapping[str, Any]] = ()

    @property
    def type(self) -> str:
        """A name for the kind of problem that stays the same."""
        return _TYPE + self.code


_TITLES = {
    400: "The request is not valid",
    401: "A token is required",
    403: "Not allowed",
    404: "Not found",
    405: "This route does not support this method",
    408: "The request did not arrive in time",
    409: "Not possible in the present state",
    413: "The request is too large",
    415: "This type of body is not supported",
    422: "The request has wrong values",
    429: "Too many requests",
    500: "Internal error",
    501: "Not installed",
    502: "A model failed",
    503: "Not possible at the moment",
    504: "The time limit was exceeded",
}

# The first that fits: subclasses stand before their bases.
_STATUS_OF: tuple[tuple[type[FathomError], int, str], ...] = (
    (SlowExpressionError, 504, "too_slow"),
    (UsageError, 400, "usage"),
    (SettingsError, 409, "settings"),
    (LockedError, 409, "locked"),
    (FirstRunError, 409, "indexing"),
    (DamagedError, 503, "damaged"),
    (MismatchError, 409, "mismatch"),
    (MovedError, 409, "moved"),
    (SourceError, 404, "source"),
    (ProviderError, 502, "provider"),
    (StoreAwayError, 503, "store_away"),
    (StoreError, 503, "store"),
    (FathomError, 503, "index"),
)


def problem_of(error: Exception) -> Problem:
    """Return the problem for an error; for an unexpected error, one without its details."""
    if not isinstance(error, FathomError):
        return problem(500, "an unexpected error; see the log of the server", "internal")
    if isinstance(error, RequestError):
        status, code = error.status, error.code
    else:
        status, code = next((status, code) for kind, status, code in _STATUS_OF if isinstance(error, kind))
    parts = [notes_shape(told) if isinstance(told, Note) else [] for told in (error.told, error.remedy)]
    return replace(problem(status, str(error), code, error.hint), detail_parts=parts[0], hint_parts=parts[1])


def retry_after(error: Exception) -> dict[str, str]:
    """Return the header that says when to try again, or none."""
    return {"retry-after": str(ceil(error.wait_s))} if isinstance(error, TryLaterError) else {}


def problem(status: int, detail: str, code: str, hint: str = "") -> Problem:
    """Return a problem with the title of its status."""
    return Problem(status, _TITLES.get(status, "Request failed"), detail, code, over_http(hint))
