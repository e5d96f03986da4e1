"""The log of the server, on stderr: lines for people, or JSON for what collects logs."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from typing import Any

from codefathom.text.printable import escape_json, show_line, show_text

# With the least that is told; the library of /mcp tells the ids of sessions otherwise, which are secrets.
LOGGERS = {"codefathom": logging.INFO, "uvicorn": logging.INFO, "mcp": logging.WARNING}
_REQUESTS, _CALLBACK = "uvicorn.access", "/sign-in/callback?"
# What every record has; anything else was given with the event.
_USUAL = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message", "taskName"}


# The name of the person or token whose request is being answered, "" where there is none.
SENDER: ContextVar[str] = ContextVar("sender of the request", default="")


class PlainLines(logging.Formatter):
    """One line a record, whatever is in its message, and below it the traceback of an error."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is that of the library
        """Return the line."""
        sender = getattr(record, "sender", "")
        return show_line(super().formatMessage(record) + (f" [{sender}]" if sender else ""))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return the traceback."""
        return show_text(super().formatException(ei))


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, logger, message, what was given with it, and the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        extra_values = {key: value for key, value in record.__dict__.items() if key not in _USUAL}
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **extra_values,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return escape_json(json.dumps(line, ensure_ascii=True, default=str))


def _name_sender(record: logging.LogRecord) -> bool:
    if sender := SENDER.get():
        record.sender = sender
    return True


def _hide_codes(record: logging.LogRecord) -> bool:
    """Leave out what a provider sends with the browser of a person who signs in: a code that may still be of use."""
    args = record.args
    if record.name == _REQUESTS and isinstance(args, tuple):
        record.args = tuple(
            part.partition("?")[0] if isinstance(part, str) and _CALLBACK in part else part for part in args
        )
    return True


def start_log(kind: str) -> None:
    """Write what the server logs to stderr, as `text` or as `json`."""
    writer = logging.StreamHandler()
    writer.addFilter(_name_sender)
    writer.addFilter(_hide_codes)
    writer.setFormatter(JsonLines() if kind == "json" else PlainLines())
    for name, level in LOGGERS.items():
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = [writer]
        logger.propagate = False
