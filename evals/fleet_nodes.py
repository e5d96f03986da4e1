"""Nodes of a cluster of Ray that are processes of this machine, for measurements of fleets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OTHERS = (3, 4)  # last numbers of the addresses of the nodes beside the head
_NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
# Nothing is reported, and actors get their share of the processors.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_metrics_collection": "0", "RAY_worker_niceness": "0"}


@contextmanager
def three_nodes() -> Iterator[Any]:
    """Give a cluster of three nodes, 127.0.0.2 to 127.0.0.4, during the block; the environment is set for Ray."""
    nodes = start_head()
    try:
        for number in OTHERS:
            add_node(nodes, number)
        nodes.wait_for_nodes()
        yield nodes
    finally:
        end(nodes)


def start_head() -> Any:
    """Start a cluster with its head alone."""
    from ray.cluster_utils import Cluster

    os.environ |= _QUIET
    os.makedirs("/tmp/ray", exist_ok=True)  # else Ray fails where it has never run
    # Not 127.0.0.1, for which Ray takes the address by which others reach this machine.
    head = {**_NODE, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
    return Cluster(initialize_head=True, head_node_args=head)


def add_node(nodes: Any, number: int) -> Any:
    """Start one more node at 127.0.0.NUMBER."""
    return nodes.add_node(wait=False, **_NODE, node_ip_address=f"127.0.0.{number}")


def end(nodes: Any) -> None:
    """Leave a cluster, and end it."""
    import ray

    ray.shutdown()
    nodes.shutdown()
