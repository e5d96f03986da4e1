"""The place of the history of a project: the index of its commits, in the folder of the index of its files."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace

from codefathom.config.settings import EmbedSettings, ParseSettings, Settings, SourceSettings, StoreSettings
from codefathom.errors import FathomError, UsageError
from codefathom.project.location import HISTORY_FOLDER, Location, index_place
from codefathom.project.stores.sibling import trusted
from codefathom.source.revisions.commits import CommitHistory, CommitTree, n_commits
from codefathom.source.revisions.revision import Revision, revision
from codefathom.stores.folder import index_folder
from codefathom.stores.registry import Registry
from codefathom.types import KnownCommits


def at_history(place: Location) -> Location:
    """Return the place of the commits of this project. Raises SourceError without a repository of git or a commit,
    UsageError where the settings index no commit."""
    most = place.settings.history.commits
    if not most:
        raise UsageError(
            "no commit is indexed: history.commits is 0", hint="set history.commits to a number such as 10000"
        )
    return replace(
        place,
        index_dir=os.path.join(place.index_dir, HISTORY_FOLDER),
        settings=history_settings(place.settings),
        revision=_commits(place, most),
    )


def _commits(place: Location, most: int) -> CommitHistory:
    files = place.revision if isinstance(place.revision, Revision) else revision(place.root, "HEAD")
    is_branch = files.target.startswith("refs/")
    moves = "HEAD" if place.revision is None and not is_branch else files.target
    return CommitHistory(place.root, moves, files.prefix, most)


def known_commits(place: Location) -> KnownCommits | None:
    """Return how many commits are indexed; None where there is no index of them that this user has made."""
    with suppress(FathomError, OSError):
        if not index_folder(os.path.join(place.index_dir, HISTORY_FOLDER), place.root).exists():
            return None  # and no git is started
        commits = at_history(place)
        folder = commits.index_folder
        if commits.revision is None or not folder.exists():
            return None
        with trusted(index_place(commits), Registry(place.state_dir)) as catalog:
            n_known = catalog.counts().documents
            n_bytes = folder.n_bytes()
        tree = commits.revision.tree()
        n_all = n_commits(tree) if isinstance(tree, CommitTree) else n_known
        return KnownCommits(n_known, max(n_all - n_known, 0), n_bytes)
    return None


def history_settings(settings: Settings) -> Settings:
    """Return the settings for an index of commits: the rules for files are not about them, a hit is a whole commit,
    and their vectors come from the bundled model, which sends nothing anywhere."""
    return settings._replace(
        source=SourceSettings(secrets=settings.source.secrets, include_generated=True, encoding="auto"),
        parse=ParseSettings(chain=("text",)),
        embed=EmbedSettings(),
        store=StoreSettings(),
        index=settings.index._replace(siblings=False, purposes=False, min_tokens=0, max_tokens=0),
        search=settings.search._replace(level="file"),
    )
