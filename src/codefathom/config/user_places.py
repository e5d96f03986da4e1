"""Places of the settings and the data of a user. Next to nothing is imported: the list of tools waits for it."""

from __future__ import annotations

import os
from collections.abc import Mapping

PROJECT_FILE = "fathom.toml"


def home_folder() -> str:
    """Return the user's home folder; if it is unknown, a path that cannot exist: never the current folder."""
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) and home != os.sep else os.path.join(os.devnull, "home")


def user_file(environ: Mapping[str, str]) -> str:
    """Return the path of the user's settings file, which need not exist."""
    if environ.get("FATHOM_CONFIG"):
        return environ["FATHOM_CONFIG"]
    home = home_folder()
    if os.name == "nt":
        base = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    else:
        base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(base, "codefathom", PROJECT_FILE)


def user_data_dir(environ: Mapping[str, str]) -> str:
    """Return the folder for the data of the server, which need not exist."""
    home = home_folder()
    if os.name == "nt":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return os.path.join(base, "codefathom", "server")
