"""Keeps the working directory, which may be a stranger's repository, out of the places that modules come from.

Imports nothing but what the interpreter has loaded before it reads a line of ours: whatever is imported before the
working directory is left out may come from it.
"""

import os
import sys

_PACKAGE_PARENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def leave_working_directory_out() -> None:
    """Have all further imports of this process pass over the working directory. For programs of ours only.

    Nothing can be done about what Python imports before, with `python -m` or an empty entry in PYTHONPATH.
    """
    sys.path[:] = trusted_path()


def trusted_path() -> list[str]:
    """Return the absolute entries of `sys.path` that are not there because of the working directory."""
    try:
        untrusted = _followers(os.getcwd())
    except OSError:  # it was removed
        untrusted = set()
    return [entry for entry in sys.path if os.path.isabs(entry) and entry not in untrusted]


def _followers(here: str) -> set[str]:
    """Return the entries of `sys.path` that stand for the working directory or for a path relative to it."""
    variable = os.environ.get("PYTHONPATH")
    named = variable.split(os.pathsep) if variable is not None else []
    followers = {os.path.abspath(os.path.join(here, entry)) for entry in named if not os.path.isabs(entry)}
    if sys.path and sys.path[0] == here and not sys.flags.safe_path:  # as `python -m` writes it
        followers.add(here)
    return {entry for entry in followers if entry not in named and not _is_of_python(entry)}


def _is_of_python(entry: str) -> bool:
    """Return True for the folder of this package, the standard library or installed packages: the user trusts them."""
    if entry in (_PACKAGE_PARENT, os.path.dirname(os.__file__)):
        return True
    return entry.startswith((sys.prefix, sys.base_prefix)) and entry.endswith(("site-packages", "dist-packages"))


# Where programs of a user keep files, by their own rules a relative value of these counts as none.
_PLACES_OF_USER = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def leave_relative_places_out() -> None:
    """Forget a home or cache that would be a folder of the working directory. For programs of ours only.

    The library of grammars loads machine code from the cache, so that a repository could bring its own.
    """
    for name in _PLACES_OF_USER:
        if name in os.environ and not os.path.isabs(os.environ[name]):
            del os.environ[name]
