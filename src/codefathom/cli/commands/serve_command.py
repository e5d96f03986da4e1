"""`fathom serve`: the server, until it is interrupted."""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, nullcontext
from dataclasses import asdict

from codefathom.cli.commands.held_sessions import holding_sessions
from codefathom.cli.commands.short_commands import write_checks
from codefathom.cli.face import Face
from codefathom.cli.options import ServeOptions
from codefathom.config.configuration import find_root
from codefathom.config.user_places import user_data_dir
from codefathom.errors import SettingsError, UsageError
from codefathom.shapes import to_json
from codefathom.system.extras import install_line
from codefathom.text.printable import show_name, size
from codefathom.types import Check


def run(options: ServeOptions, face: Face) -> int:
    """Serve until interrupted; or check whether that is possible; or print a new token and its line in the settings."""
    try:
        from codefathom.fleet.cluster.ray_cluster import RayCluster
        from codefathom.server.http.auth import hash_of, new_token
        from codefathom.server.run import serve
        from codefathom.server.server_config import config_of
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the server needs the package {error.name!r}", hint=f"install it: {install_line('server')}"
        ) from error
    if options.new_token is not None:
        if not re.fullmatch(r"[\w.-]+", options.new_token):
            raise UsageError(
                f"{options.new_token!r} is not a valid name of a token", hint="use letters, digits, . _ and -"
            )
        token = new_token()
        face.write(f"{token}\n")
        face.note(f"store this token, it is not shown again; add {options.new_token}:{hash_of(token)} to server.tokens")
        return 0
    if options.backup or options.restore:
        _save(options, face)
        return 0
    if options.check:
        return write_checks(_checks(options, face), face)
    folders = _folders(options, face)
    roots = tuple(map(find_root, folders))
    if cluster := face.settings().search.fleet_cluster:
        # Before the server takes signals: Ray takes them too, and whoever comes last has them.
        RayCluster.connect(cluster)
    with holding_sessions(face.note) if face.settings().server.sessions else nullcontext():
        serve(lambda: config_of(face.settings().server, _variables(face)).with_roots(roots), folders, face.note)
    return 0


def _variables(face: Face) -> dict[str, str]:
    """Return the environment, from which served projects have their settings, with the cluster of this run."""
    cluster = face.settings().search.fleet_cluster
    return os.environ | ({"FATHOM_SEARCH__FLEET_CLUSTER": cluster} if cluster else {})


def _save(options: ServeOptions, face: Face) -> None:
    """Write a backup of what the server keeps, or put one back; the list of who did what says so."""
    from codefathom.server.access.audit_list import AuditAction, AuditEntry, AuditList  # these need the extra, as above
    from codefathom.server.server_backup import restore_server_backup, write_server_backup

    if options.backup and options.restore:
        raise UsageError("--backup cannot be combined with --restore", hint="leave one of them out")
    server = face.settings().server
    data_dir = os.path.realpath(server.data_dir or user_data_dir(os.environ))
    act, path = (write_server_backup, options.backup) if options.backup else (restore_server_backup, options.restore)
    saved = act(data_dir, path)
    with closing(AuditList(data_dir, lambda: server.audit_days)) as audit:
        action: AuditAction = "backup written" if options.backup else "backup restored"
        audit.add(AuditEntry(os.environ.get("USER", ""), "command", action, details=os.path.basename(path)))
    if face.common.json:
        face.write(to_json(asdict(saved)))
        return
    made_at = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.made_at))
    text = f"wrote {show_name(path)}" if options.backup else f"restored what the server kept at {made_at}"
    face.note(f"{text}: {len(saved.databases)} databases, {size(saved.n_bytes)}")


def _checks(options: ServeOptions, face: Face) -> tuple[Check, ...]:
    """Return what the server needs; of settings that cannot be read, that."""
    from codefathom.server.readiness import readiness  # needs the extra, as above

    try:
        settings = face.settings()
    except SettingsError as error:
        return (Check("settings", False, str(error), error.hint),)
    return readiness(settings, os.environ, [options.folder] if options.folder else [])


def _folders(options: ServeOptions, face: Face) -> tuple[str, ...]:
    """Return the folder to add: the one that the command names, else the project of the current folder."""
    if options.folder and face.common.source_dir:
        raise UsageError("two folders are named, one of them by --source-dir", hint="leave --source-dir out")
    if options.folder:
        return (options.folder,)
    root = face.project_root()
    if face.is_home(root):
        face.note(
            f"{root} is a home folder or the root of the disk, so no project is added; "
            "name the folder of a project: fathom serve FOLDER"
        )
        return ()
    return (root,)
