"""Files of no project as a project of one question: a process of the searches indexes them, this one only reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import NamedTuple

from codefathom.askers.held_folder import HeldFolder
from codefathom.askers.loose_files import USUAL_BUDGET, loose_place
from codefathom.engine import Engine
from codefathom.providers.stoppable import Stoppable
from codefathom.server.searches.loose_search import LooseIndexTask
from codefathom.server.searches.search_end import SearchEnd
from codefathom.server.searches.search_pool import SearchPool
from codefathom.types import Skipped


class IndexedLooseFiles(NamedTuple):
    """Files of no project, as a project of one question."""

    engine: Engine | None  # None: there is no such file
    left_out: tuple[Skipped, ...]


@contextmanager
def loose_project(
    pool: SearchPool, task: Callable[[str], LooseIndexTask], end: SearchEnd
) -> Iterator[IndexedLooseFiles]:
    """Give the files of a task, which is made for a folder that is removed after the block. Raises FathomError."""
    with closing(HeldFolder()) as folder:
        work = task(folder.path)
        index = pool.index_loose(work, end)
        if not index.files:
            yield IndexedLooseFiles(None, index.left_out)
            return
        place = loose_place(folder.path, index.files, work.settings, USUAL_BUDGET)
        never = place.settings._replace(search=place.settings.search._replace(refresh="never"))
        engine = Engine(replace(place, settings=never), wrap_model=Stoppable, first_index_wait_s=0.0)
        with closing(engine):
            yield IndexedLooseFiles(engine, index.left_out)
