"""Jobs in the YAML files that tell a CI what to do: GitHub, Gitea, Forgejo, CircleCI and GitLab. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codefathom.types import Symbol

_FILE = re.compile(
    r"(?:.*/)?(?:\.(?:github|gitea|forgejo)/workflows/[^/]+|\.circleci/config|[^/]*(?P<gitlab>\.gitlab-ci))\.ya?ml$"
)
_KEY = re.compile(r"( *)([\"']?)([A-Za-z_.][^:#\"']{0,200}?)\2:[ \t]*(?:#.*|&\S+[ \t]*)?$")
# Keys of the first level of a file of GitLab that are no jobs.
_SETTINGS = frozenset(
    {
        "default",
        "include",
        "stages",
        "variables",
        "workflow",
        "cache",
        "image",
        "services",
        "before_script",
        "after_script",
    }
)


class _Key(NamedTuple):
    line: int
    indent: int
    name: str


def ci_jobs(path: str, lines: Sequence[str]) -> list[Symbol]:
    """Return the jobs of a file, each from its name to the line before the next one; none for any other file."""
    match = _FILE.match(path)
    if match is None:
        return []
    keys = [_Key(number, len(key[1]), key[3]) for number, line in enumerate(lines, 1) if (key := _KEY.match(line))]
    jobs = list(_of_gitlab(keys) if match["gitlab"] else _below_jobs(keys))
    ends = _ends(keys, jobs, len(lines))
    return [Symbol("function", key.name, key.name, key.line, ends[key], key.line, key.name) for key in jobs]


def _of_gitlab(keys: Sequence[_Key]) -> Iterator[_Key]:
    yield from (key for key in keys if key.indent == 0 and key.name not in _SETTINGS and key.name[0] != ".")


def _below_jobs(keys: Sequence[_Key]) -> Iterator[_Key]:
    depth, is_inside = 0, False
    for key in keys:
        if key.indent == 0:
            depth, is_inside = 0, key.name == "jobs"
        elif is_inside:
            depth = depth or key.indent
            if key.indent == depth:
                yield key


def _ends(keys: Sequence[_Key], jobs: Sequence[_Key], n_lines: int) -> dict[_Key, int]:
    """Return the last line of each job: before the next key that is not inside it."""
    ends = dict.fromkeys(jobs, n_lines)
    last: _Key | None = None
    for key in keys:
        if last is not None and key.indent <= last.indent:
            ends[last], last = key.line - 1, None
        if key in ends:
            last = key
    return ends
