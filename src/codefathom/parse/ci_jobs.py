"""Jobs in the YAML files that tell a CI what to do: GitHub, Gitea, Forgejo, CircleCI, GitLab and Azure. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codefathom.types import Symbol

_FILE = re.compile(
    r"(?:.*/)?(?:\.(?:github|gitea|forgejo)/workflows/[^/]+|\.circleci/config|[^/]*(?P<gitlab>\.gitlab-ci))\.ya?ml$"
)
_OF_AZURE = re.compile(r"(?:.*/)?\.?azure-?pipelines(?:/(?:[^/]+/){0,5}[^/]+|[^/]*)\.ya?ml$")
# A name that an expression makes is not known.
_ITEM = re.compile(r"( *)- (job|deployment|stage):[ \t]+([\"']?)([^#\"'$\s][^#\"'$]{0,200}?)\3[ \t]*(?:#.*)?$")
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
        return list(_of_azure(lines)) if _OF_AZURE.match(path) else []
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


def _of_azure(lines: Sequence[str]) -> Iterator[Symbol]:
    """Yield stages and jobs, which are items of lists; a job belongs to the stage in which it lies."""
    stage, last_of_stage = "", 0
    for number, line in enumerate(lines, 1):
        if item := _ITEM.match(line):
            end = _end_of_item(lines, number, len(item[1]))
            if item[2] == "stage":
                stage, last_of_stage = item[4], end
                yield Symbol("module", stage, stage, number, end, number, stage)
            else:
                name = f"{stage}.{item[4]}" if number <= last_of_stage else item[4]
                yield Symbol("function", item[4], name, number, end, number, item[4])


def _end_of_item(lines: Sequence[str], start: int, indent: int) -> int:
    """Return the last line that is indented more than the item that begins at a line."""
    end = start
    for number, line in enumerate(lines[start:], start + 1):
        if line.strip():
            if len(line) - len(line.lstrip(" ")) <= indent:
                break
            end = number
    return end
