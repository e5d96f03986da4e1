"""`fathom fleet`: very many repositories under one name."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from codefathom.askers.project_list import ProjectList
from codefathom.cli.face import Face
from codefathom.cli.options import FleetOptions
from codefathom.errors import LockedError, UsageError
from codefathom.fleet.fleet import Fleet, FleetExtent, FleetStatus
from codefathom.fleet.fleet_list import FleetList, NamedFleet
from codefathom.fleet.fleet_run import FleetReport
from codefathom.fleet.look_turns import LookTurns
from codefathom.fleet.reader_lists import HostCount
from codefathom.fleet.readers_file import READERS
from codefathom.fleet.sources import checked_source
from codefathom.shapes import to_json
from codefathom.text.printable import show_text, size
from codefathom.types import Failure

_MOST_SHOWN = 20
_NO_FLEET = "there is no fleet yet; `fathom fleet add NAME SOURCE` makes one"


def run(options: FleetOptions, face: Face) -> int:
    """Do one action with fleets. Return 2 where a repository could not be read."""
    if options.action == "list":
        fleets = FleetList().listed()
        lines = [f"{fleet.name}  {fleet.root}" for fleet in fleets] or [
            "there is no fleet yet; see fathom fleet --help"
        ]
        face.write(to_json([fleet._asdict() for fleet in fleets]) if face.common.json else _text(lines))
        return 0
    if not options.name:
        raise UsageError(f"`fathom fleet {options.action}` needs the name of a fleet", hint="`fathom fleet` lists them")
    if options.sources and options.action not in ("add", "index", "remove"):
        raise UsageError(f"`fathom fleet {options.action}` takes no source", hint="leave out all behind the name")
    return _ACTIONS[options.action](options, face)


def _add(options: FleetOptions, face: Face) -> int:
    if not options.sources:
        raise UsageError(
            "`fathom fleet add` needs a source",
            hint="give a folder of clones, a folder, an address of git, or a list of these",
        )
    _refuse_taken(options.name)
    schemes = face.settings_of(face.project_root()).server.git_schemes
    for source in options.sources:
        checked_source(source, schemes)  # before there is a fleet
    with Fleet.make(options.name, options.at) as fleet:
        sources = fleet.add(options.sources)
        # A fleet is asked like a project, by its name.
        ProjectList().add(fleet.root, fleet.name)
        status = fleet.status()
    if face.common.json:
        face.write(to_json({"name": status.name, "root": status.root, "sources": list(status.sources)}))
    else:
        face.write(_text([f"{status.name} has {source}" for source in sources]))
        face.note(f"run `fathom fleet index {status.name}` to make its index")
    return 0


def _refuse_taken(name: str) -> None:
    fleets = {fleet.name for fleet in FleetList().listed()}
    if name not in fleets and any(name in (item.name, *item.groups) for item in ProjectList().listed()):
        raise UsageError(f"{name!r} is the name of a project or group already", hint="give the fleet another name")


def _index(options: FleetOptions, face: Face) -> int:
    named = FleetList().named(options.name)
    if options.watch:
        return _watch(options, named, face)
    with Fleet(named, face.settings_of(named.root)) as fleet:
        report = fleet.index(face.on_progress, full=options.full, only=options.sources)
        if not fleet.extent().n_repositories and not report.failures:
            raise UsageError(
                f"the fleet {options.name} has no repository",
                hint=f"`fathom fleet add {options.name} FOLDER` adds some",
            )
        _tell(fleet, report, face)
    return 2 if report.failures else 0


def _watch(options: FleetOptions, named: NamedFleet, face: Face) -> int:
    """Look at the sources again and again, and take in what has changed, until Ctrl-C."""
    if options.sources:
        raise UsageError("--watch cannot be used with names of repositories", hint="leave them out, or --watch")
    turns, told, is_full = LookTurns(), "", options.full
    while True:
        settings = face.settings_of(named.root)  # those of now
        with Fleet(named, settings) as fleet:
            look = fleet.look(face.on_progress)
            if look.problem != told:
                told = look.problem
                face.notes(filter(None, [told]))
            due = turns.due(look)
            if is_full or due is not None:
                try:
                    only = () if is_full or due is None else due.only
                    _tell(fleet, fleet.index(face.on_progress, full=is_full, only=only), face)
                    is_full = False
                except LockedError as error:  # by another process, which may be at the same work
                    face.note(f"{error}; it is tried again later")
        face.flush()
        time.sleep(turns.pause_s(settings.index.fleet_watch_s))


def _tell(fleet: Fleet, report: FleetReport, face: Face) -> None:
    face.notes(f"shard {item.path} was damaged and is made again: {item.reason}" for item in report.damaged)
    face.notes(report.notes[:_MOST_SHOWN])
    if len(report.notes) > _MOST_SHOWN:
        face.note(f"{len(report.notes) - _MOST_SHOWN} more such repositories; --json has all")
    face.notes(f"{failure.path}: {failure.reason}" for failure in report.failures[:_MOST_SHOWN])
    if len(report.failures) > _MOST_SHOWN:
        face.note(f"{len(report.failures) - _MOST_SHOWN} more could not be read; `fathom fleet status` names them")
    if face.common.json:
        face.write(_report_json(report, fleet.status()))  # which looks at each file of the fleet
    else:
        face.write(_text([_report_text(fleet.name, report, fleet.extent())]))


def _report_text(name: str, report: FleetReport, extent: FleetExtent) -> str:
    changed, made = _several(len(report.changed), "repository"), _several(report.n_shards_made, "shard")
    return f"{name}: {changed} changed, {made} made; {_extent_text(extent)}"


def _several(count: int, noun: str) -> str:
    """Return a number of things in words, such as 1 repository, 2,000 repositories."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("h") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def _report_json(report: FleetReport, status: FleetStatus) -> str:
    changed = {
        "changed": list(report.changed),
        "shards_made": report.n_shards_made,
        "failures": _reasons(report.failures),
        "damaged": _reasons(report.damaged),
        "notes": list(report.notes),
    }
    return to_json({**_status_shape(status), **changed})


def _reasons(items: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"path": item.path, "reason": str(item.reason)} for item in items]


def _verify(options: FleetOptions, face: Face) -> int:
    with Fleet.open(options.name) as fleet:
        problems, n_shards = fleet.verify(), fleet.extent().n_shards
    if face.common.json:
        face.write(to_json({"name": options.name, "shards": n_shards, "damaged": _reasons(problems)}))
    else:
        good = f"{options.name}: {_several(n_shards, 'shard')} as written"
        remedy = f"run `fathom fleet index {options.name} --full`, which makes them again"
        listed = [f"shard {item.path} is damaged: {item.reason}" for item in problems]
        face.write(_text([*listed, remedy] if listed else [good]))
    return 2 if problems else 0


def _status(options: FleetOptions, face: Face) -> int:
    with Fleet.open(options.name) as fleet:
        status = fleet.status()
    if face.common.json:
        listed = [
            {"name": item.name, "place": item.place, "files": item.n_files, "bytes": item.n_bytes, "shard": item.slot}
            | {"branch": item.branch, "is_default": not item.is_branch}
            | ({"problem": item.problem, "remedy": item.remedy} if item.problem else {})
            for item in status.repositories
        ]
        face.write(to_json({**_status_shape(status), "repository_list": listed}))
    else:
        face.write(_text(_status_lines(status, is_whole=face.common.verbose)))
    return 2 if status.failed else 0


def _extent_text(extent: FleetExtent) -> str:
    repositories = _several(extent.n_repositories, "repository")
    branches = f" with {_several(extent.n_branches, 'further branch')}" if extent.n_branches else ""
    return f"{repositories}{branches}, {_several(extent.n_shards, 'shard')}, {_several(extent.n_lines, 'line')}"


def _status_lines(status: FleetStatus, *, is_whole: bool) -> list[str]:
    clones = f"; clones {size(status.n_bytes_clones)}" if status.n_bytes_clones else ""
    text, distinct = size(status.n_bytes_text), size(status.n_bytes_distinct)
    lines = [
        f"{status.name} in {status.root}: {_extent_text(status.extent)}",
        f"text {text}, of which {distinct} is distinct; index {size(status.n_bytes)}{clones}",
        *(f"source {source}" for source in status.sources),
    ]
    if not status.generation:
        lines.append(f"it has no index yet: run `fathom fleet index {status.name}`")
    for version, count in sorted(Counter(version for _, version in status.old).items()):
        shards_have = f"{_several(count, 'shard')} {'has' if count == 1 else 'have'}"
        lines.append(
            f"{shards_have} format {version} of an older fathom, and cannot be asked: run `fathom fleet index "
            f"{status.name}`"
        )
    lines += _reader_lines(status)
    if is_whole:
        lines += [
            f"{item.name}: {_several(item.n_files, 'file')}, shard {item.slot}, {item.place}"
            + (f", branch {item.branch}" if item.branch else "")
            + (", a fork" if item.name in status.forks else "")
            for item in status.repositories
        ]
        lines += [
            f"shard {item.folder}: {_several(item.n_lines, 'line')}, {size(item.n_bytes)}" for item in status.shards
        ]
    return [*lines, *(f"{item.name} could not be read: {item.problem}; {item.remedy}" for item in status.failed)]


def _reader_lines(status: FleetStatus) -> list[str]:
    """Return who may read what, for a server; nothing where all may read all."""
    if status.rules is None:
        return []
    rules = [rule for rule in status.rules if not rule.clones]  # the others come from hosts
    lines = [f"{READERS}: {_several(len(rules), 'rule')}; {_several(status.n_closed, 'repository')} not for everybody"]
    lines += [
        f"{READERS}: no repository is called {pattern!r}"
        for rule in rules
        for pattern in rule.repositories
        if not any(rule._replace(repositories=(pattern,)).is_about(item.name) for item in status.repositories)
    ]
    for host in status.hosts:
        who = f"{host.n_logins:,} logins, of which {host.n_unknown:,} mean nobody at the server"
        lines.append(f"{host.host}: lists of the readers of {_several(host.n_lists, 'repository')}; {who}")
        lines.append(f"{host.host}: {_host_answers(host)}")
    lines += [f"{item.path}: {item.reason}" for item in status.unsure[:_MOST_SHOWN]]
    if len(status.unsure) > _MOST_SHOWN:
        lines.append(f"{len(status.unsure) - _MOST_SHOWN:,} more such repositories; --json has all")
    if status.mixed:
        lines.append(
            f"{_several(len(status.mixed), 'shard')} with repositories of different readers, which the server shows "
            f"only to those who may read all repositories in it: run `fathom fleet index {status.name}`"
        )
    return lines


def _host_answers(host: HostCount) -> str:
    """Return when a host has answered, and what went wrong last."""
    if not host.newest_at:
        answers = "no answer yet"
    else:
        newest, oldest = (f"{(time.time() - at) / 3_600:.1f} hours" for at in (host.newest_at, host.oldest_at))
        answers = f"the newest answer is {newest} old, the oldest {oldest}"
    if not host.n_failing:
        return answers
    return f"{answers}; no answer the last time about {_several(host.n_failing, 'repository')}, such as {host.problem}"


def _status_shape(status: FleetStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "root": status.root,
        "generation": status.generation,
        "sources": list(status.sources),
        "repositories": len(status.repositories) - status.n_branches,
        "branches": status.n_branches,
        "shards": len(status.shards),
        "lines": status.n_lines,
        "forks": list(status.forks),
        "bytes_text": status.n_bytes_text,
        "bytes_distinct": status.n_bytes_distinct,
        "bytes_index": status.n_bytes,
        "bytes_clones": status.n_bytes_clones,
        "reader_rules": None if status.rules is None else sum(not rule.clones for rule in status.rules),
        "reader_hosts": [host._asdict() for host in status.hosts],
        "without_readers": _reasons(status.unsure),
        "old_shards": [shard.folder for shard, _ in status.old],
        "mixed_shards": [shard.folder for shard in status.mixed],
    }


def _remove(options: FleetOptions, face: Face) -> int:
    with Fleet.open(options.name) as fleet:
        if options.sources:
            for source in options.sources:
                fleet.remove_source(source)
            said = f"{options.name} has {len(options.sources)} sources less after the next `fathom fleet index`"
        else:
            said = f"removed the fleet {options.name}, {size(fleet.remove())}; its repositories stay"
            if any(item.name == options.name and item.root == fleet.root for item in ProjectList().listed()):
                ProjectList().remove(options.name)
    face.write(to_json({"name": options.name, "removed": list(options.sources)}) if face.common.json else _text([said]))
    return 0


def _text(lines: list[str]) -> str:
    return show_text("\n".join([*lines, ""]))


_ACTIONS = {"add": _add, "index": _index, "status": _status, "verify": _verify, "remove": _remove}
