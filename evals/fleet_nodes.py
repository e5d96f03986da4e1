"""Nodes of a cluster of Ray that are processes of this machine, for measurements of fleets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
# Nothing is reported, and actors get their share of the processors.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_metrics_collection": "0", "RAY_worker_niceness": "0"}
OTHERS = (3, 4)  # numbers of the addresses of the nodes beside the head


@contextmanager
def three_nodes() -> Iterator[Any]:
    """Give a cluster of three nodes, 127.0.0.2 to 127.0.0.4, during the block; QUIET goes into the environment."""
    from ray.cluster_utils import Cluster

    os.environ |= QUIET
    os.makedirs("/tmp/ray", exist_ok=True)  # else Ray fails where it has never run
    nodes = Cluster(
        initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
    )
    try:
        for number in OTHERS:
            nodes.add_node(wait=False, **NODE, node_ip_address=f"127.0.0.{number}")
        nodes.wait_for_nodes()
        yield nodes
    finally:
        import ray

        ray.shutdown()
        nodes.shutdown()
