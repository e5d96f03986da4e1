"""Fetches very many packages of Python and npm, a folder for each: the repositories of a large fleet.

    python -m evals.packages FOLDER [--count 2000] [--versions 100]
    python -m evals.packages FOLDER --package npm:express --count 64

Begins with some packages, and goes on with those that they need, breadth first, so that most of them are in real use.
Of each the archive of its source is unpacked: of npm the newest version, of PyPI the newest sdist. `--versions` of them
come in three versions. What is there already is not fetched again. With `--package` the newest versions of one package
alone are fetched. Nothing of a package is run.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

_MOST_BYTES = 2_500_000  # of an archive: a few giants would be most of the text
_N_THREADS = 8
_TIMEOUT_S = 60
_NPM = (
    "express eslint webpack jest react-dom @babel/core gulp mocha karma vue next svelte fastify mongoose sequelize "
    "socket.io grunt rollup vite typescript-eslint postcss ember-cli nodemon browserify pm2 ava yeoman-generator"
)
_PYPI = (
    "django flask fastapi celery scrapy sphinx jupyter pandas apache-airflow-core pytest tox ansible-core "
    "homeassistant buildbot zope.interface twisted pyramid sqlalchemy boto3 dask airbyte-cdk salt nltk luigi prefect "
    "mkdocs pelican"
)


class _Archive(NamedTuple):
    """An archive of one version of a package."""

    name: str  # of its folder
    url: str


class _Found(NamedTuple):
    """What a registry says of a package."""

    archives: tuple[_Archive, ...]  # the newest version first
    needs: tuple[str, ...]


def main() -> None:
    """Fetch the packages, and say how many there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000, help="folders that are wanted, versions among them")
    parser.add_argument(
        "--versions", type=int, default=100, help="packages of each registry that come in three versions"
    )
    parser.add_argument("--package", default="", help="npm:NAME or pypi:NAME, of which the newest versions are fetched")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    here = {place.name for place in options.folder.iterdir()}
    with ThreadPoolExecutor(_N_THREADS) as pool, ThreadPoolExecutor(_N_THREADS) as asking:
        if options.package:
            registry, _, name = options.package.partition(":")
            archives = {"npm": _npm, "pypi": _pypi}[registry](name, options.count).archives
            taken = pool.map(lambda archive: _unpack(archive, options.folder), archives)
            print(f"{len(list(filter(None, taken)))} versions")
            return
        sources = ((_npm, _NPM), (_pypi, _PYPI))
        both = zip(*(_archives(asking, look, names, options.versions) for look, names in sources), strict=False)
        wanted = (archive for archive in chain.from_iterable(both) if archive.name not in here)
        while len(here) < options.count:
            batch = list(islice(wanted, 4 * _N_THREADS))
            if not batch:
                break
            here |= set(filter(None, pool.map(lambda archive: _unpack(archive, options.folder), batch)))
            print(f"{len(here)} folders", flush=True)


def _archives(pool: ThreadPoolExecutor, look: Any, names: str, n_several: int) -> Iterator[_Archive]:
    """Yield the archives of packages and of what they need, breadth first."""
    names_now, seen = names.split(), set(names.split())
    while names_now:
        following: list[str] = []
        for found in pool.map(look, names_now):
            yield from found.archives[: 3 if n_several > 0 else 1]
            n_several -= 1
            fresh = [name for name in found.needs if name not in seen]
            seen.update(fresh)
            following += fresh
        names_now = following


def _npm(name: str, n_versions: int = 3) -> _Found:
    told = _json(f"https://registry.npmjs.org/{urllib.parse.quote(name, safe='@')}")
    newest = told.get("dist-tags", {}).get("latest", "")
    versions = told.get("versions", {})
    if newest not in versions:
        return _Found((), ())
    same = name.replace("@", "").replace("/", "-")
    numbers = [
        newest,
        *islice((each for each in reversed(versions) if each != newest and "-" not in each), n_versions - 1),
    ]
    archives = [
        _Archive(f"npm-{same}" + (f"-{number}" if number != newest else ""), versions[number]["dist"]["tarball"])
        for number in numbers
    ]
    info = versions[newest]
    return _Found(tuple(archives), (*(info.get("dependencies") or ()), *(info.get("devDependencies") or ())))


def _pypi(name: str, n_versions: int = 3) -> _Found:
    told = _json(f"https://pypi.org/pypi/{urllib.parse.quote(name)}/json")
    if not told:
        return _Found((), ())
    newest = told["info"]["version"]
    numbers = [newest, *islice((each for each in reversed(told["releases"]) if each != newest), n_versions - 1)]
    archives = [
        _Archive(f"pypi-{name}" + (f"-{number}" if number != newest else ""), file["url"])
        for number in numbers
        for file in told["releases"].get(number, ())
        if file["packagetype"] == "sdist" and file["url"].endswith(".tar.gz") and file["size"] < _MOST_BYTES
    ]
    needs = [re.match(r"[\w.-]+", line) for line in told["info"].get("requires_dist") or ()]
    return _Found(tuple(archives), tuple(found[0].lower().replace("_", "-") for found in needs if found))


def _json(url: str) -> dict[str, Any]:
    """Return what an address answers; nothing where it answers with an error."""
    try:
        read: dict[str, Any] = json.loads(_bytes(url, 50_000_000))
    except (OSError, ValueError):
        return {}
    return read


def _unpack(archive: _Archive, folder: Path) -> str:
    """Unpack an archive; return the name of its folder, "" where it is too large or cannot be had."""
    place = folder / archive.name
    try:
        packed = _bytes(archive.url, _MOST_BYTES)
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
            tar.extractall(place, filter="data")  # no path out of the folder, no link out of it, no device
    except (OSError, ValueError, tarfile.TarError):
        return ""
    return archive.name


def _bytes(url: str, most: int) -> bytes:
    if not url.startswith("https://"):
        raise ValueError(url)
    # npm then leaves out the texts of all versions, which are most of what it says.
    asked = urllib.request.Request(url, headers={"accept": "application/vnd.npm.install-v1+json, */*"})
    with urllib.request.urlopen(asked, timeout=_TIMEOUT_S) as answer:
        read: bytes = answer.read(most + 1)
    if len(read) > most:
        raise ValueError(f"{url} is larger than {most} bytes")
    return read


if __name__ == "__main__":
    main()
