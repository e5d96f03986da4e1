"""A project at a glance, with the ages that history gives its files: a fresh clone sets all time stamps anew."""

from __future__ import annotations

from codefathom.errors import SourceError
from codefathom.project.history_of_lines import last_commit
from codefathom.project.opening import OpenedProject
from codefathom.search.graph.glance import Glance, SizedFile, glance
from codefathom.source.revisions.file_ages import commit_times
from codefathom.source.revisions.revision import Revision


def glance_with_ages(opened: OpenedProject) -> Glance:
    """Return a project at a glance. A file that is committed as it stands has the time of that commit."""
    files = opened.place.revision
    shown = glance(opened.catalog, has_times=files is None or files.has_times)
    if files is not None and not isinstance(files, Revision):  # a fleet, whose repositories have a history each
        return shown
    try:
        tree = last_commit(opened).tree
        committed = {}
        for file in shown.files:
            # Contents are not compared: of a change that keeps the size only the age would be wrong.
            blob = tree.stat(file.path)
            if blob is not None and blob.size == file.size:
                committed[file.path] = file
        times = commit_times(tree, committed)
    except SourceError:  # no repository, or one that git does not read: the first page of a project comes all the same
        return shown

    def aged(file: SizedFile) -> SizedFile:
        return file._replace(changed_at=float(times.get(file.path, file.changed_at)))

    return shown._replace(files=tuple(map(aged, shown.files)))
