"""Nodes of real Ray on this machine, for tests of fleets on a cluster."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from codefathom.fleet import fleet_run
from codefathom.fleet.cluster import ray_cluster

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed: pip install 'codefathom[cluster]' (PyPI has no wheel of it for each Python)",
)
PACKAGE = Path(fleet_run.__file__).parents[1]


class Nodes(NamedTuple):
    """Nodes of Ray on this machine."""

    address: str
    add: Callable[..., Any]
    remove: Callable[..., None]


@contextmanager
def three_nodes() -> Iterator[Nodes]:
    """Start three nodes."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_enable_metrics_collection", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else actors get no processor time beside other tests
        os.makedirs("/tmp/ray", exist_ok=True)  # else Ray fails where it has never run
        # Not 127.0.0.1, for which Ray takes the address by which others reach this machine.
        node = {"num_cpus": 1, "object_store_memory": 80_000_000}
        head = {**node, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        for number in (3, 4):
            nodes.add_node(wait=False, **node, node_ip_address=f"127.0.0.{number}")
        nodes.wait_for_nodes()
        yield Nodes(nodes.address, partial(nodes.add_node, **node), nodes.remove_node)
        import ray

        ray.shutdown()
        ray_cluster._connected.cache_clear()
        nodes.shutdown()


def other_code(folder: Path) -> Path:
    """Copy the program into a folder, and change one of its files."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "static"))
    with (folder / PACKAGE.name / "versions.py").open("a") as file:
        file.write("# another version\n")
    return folder
