"""The events of a job for its listeners. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from codefathom.facts.reasons import from_line, notes_of
from codefathom.facts.remedies import over_http
from codefathom.server.jobs.job_messages import FileError, Report, Step, Trouble
from codefathom.shapes import notes_shape

if TYPE_CHECKING:
    from codefathom.server.jobs.job_table import IndexJob

_NAMES = {"scan": "scan_start", "index": "indexing", "write": "saving"}


class ServerEvent(NamedTuple):
    """An event: its name and its data."""

    type: str
    data: Any = None


def job_shape(job: IndexJob) -> dict[str, Any]:
    """Return a job as clients see it."""
    return {
        "id": job.id,
        "project_id": job.project_id,
        "full": job.full,
        "move_to": job.move_to,
        "state": job.state,
        "attempts": job.attempts,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "progress": step_shape(job.step),
        "report": _report_shape(job.report) if job.report else None,
        "moved": asdict(job.moved) if job.moved else None,
        "error": trouble_shape(job.trouble) if job.trouble else None,
        "file_errors": [asdict(error) for error in job.errors],
    }


def step_shape(step: Step) -> dict[str, Any]:
    """Return progress as clients see it."""
    return {
        "phase": step.phase,
        "current_file": step.current_file,
        "current": step.current,
        "total": step.total,
        "percent": round(100 * step.current / step.total, 1) if step.total else 0.0,
        "chunk_count": step.n_chunks,
        "files_per_second": step.rate,
        "estimated_remaining_seconds": step.remaining_s,
        "message": step.message,
    }


def trouble_shape(trouble: Trouble) -> dict[str, Any]:
    """Return the error of a job as clients see it."""
    parts = {"detail_parts": notes_shape(notes_of(trouble.told)), "hint_parts": notes_shape(notes_of(trouble.remedy))}
    detail, hint = (over_http(str(told)) for told in (trouble.told, trouble.remedy))
    return {"code": trouble.code, "detail": detail, "hint": hint, **parts}


def of_step(before: Step, step: Step) -> Iterator[ServerEvent]:
    """Yield the events of a step, with the names that clients know."""
    shape = step_shape(step)
    if before.phase == "scan" and step.phase != "scan":
        yield ServerEvent("scan_complete", {"file_count": step.total, **(step.extent or {})})
    yield ServerEvent(_NAMES.get(step.phase, step.phase), shape)


def of_file_error(error: FileError) -> ServerEvent:
    """Return the event of a file that could not be indexed."""
    return ServerEvent("file_error", asdict(error))


def at_end(job: IndexJob) -> Iterator[ServerEvent]:
    """Yield the events at the end of a job, "done" last."""
    if job.state == "done" and job.report is not None:
        yield ServerEvent("complete", _complete(job.report))
    elif job.state == "done" and job.moved is not None:
        yield ServerEvent("moved", asdict(job.moved))
    elif job.state == "cancelled":
        yield ServerEvent("cancelled", {"job_id": job.id})
    elif job.trouble is not None:
        yield ServerEvent("error", trouble_shape(job.trouble))
    yield ServerEvent("done", {"job_id": job.id, "state": job.state})


def _complete(report: Report) -> dict[str, Any]:
    named = {
        "file_count": report.n_files,
        "chunk_count": report.n_chunks,
        "duration_seconds": report.seconds,
        "error_count": report.n_failed,
    }
    return named | {"report": _report_shape(report)}


def _report_shape(report: Report) -> dict[str, Any]:
    grammars = [from_line(line) for line in report.missing_grammars]
    parts = [part for told in grammars for part in notes_shape(notes_of(told))]
    sentences = [over_http(str(told)) for told in grammars]
    return {**asdict(report), "missing_grammars": sentences, "missing_grammars_parts": parts}
