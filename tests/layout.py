"""The layout of a service that keeps uploads and chats: `uploads`, `chats/{id}`, and files that belong to neither."""

from __future__ import annotations

from pathlib import Path

from codefathom.askers.routes import PathRoute

CHAT = "AbC-9"
FOLDERS = ("uploads/zoo", f"chats/{CHAT}/notes", "chats/second", "chats/third", "misc")
NOTES = """# Notes of {name}

The kangaroo of {name} is fed with grass in the morning.
Nobody else may feed it.

The keeper writes down the weight of the animal each week.
"""
KEEPER = "def feed_the_kangaroo(grass):\n    return [grass, {name!r}]\n"
MORNING = "from keeper import feed_the_kangaroo\n\n\ndef morning_of_{name}():\n    return feed_the_kangaroo('hay')\n"


def make_layout(top: Path) -> Path:
    """Write notes into each folder of the layout below `top`."""
    for folder in FOLDERS:
        (top / folder).mkdir(parents=True)
        (top / folder / "notes.md").write_text(NOTES.format(name=folder.replace("/", " ")))
    return top


def add_code(top: Path) -> None:
    """Write a module and one that uses it into each folder of the layout."""
    for folder in FOLDERS:
        name = folder.replace("/", "_").replace("-", "_")
        (top / folder / "keeper.py").write_text(KEEPER.format(name=name))
        (top / folder / "morning.py").write_text(MORNING.format(name=name))


def routes_of(top: Path) -> tuple[PathRoute, ...]:
    """Return the rules of the layout."""
    return (
        PathRoute(f"{top}/uploads", "uploads", index=f"{top}/.index/uploads"),
        PathRoute(f"{top}/chats/{{id}}", "chat-{id}", index=f"{top}/.index/chats/{{id}}"),
    )


def routes_text(top: Path) -> str:
    """Return the rules as a settings file has them."""
    return "".join(
        f'[[routes]]\npattern = "{route.pattern}"\nproject = "{route.project}"\nindex = "{route.index}"\n'
        for route in routes_of(top)
    )
