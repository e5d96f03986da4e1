"""Tasks of Ray: Ray chooses the machine of each among those that may be used, and starts a lost one again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from codefathom.fleet.cluster.cluster_machines import ClusterMachines

Run: TypeAlias = Callable[[str, bytes], bytes]
OnItsMachine: TypeAlias = Callable[[Run, str, bytes], tuple[str, bytes]]


class TaskLostError(Exception):
    """The process or the machine of a task died each time."""


class RayTasks:
    """Calls of functions on the machines of a cluster."""

    def __init__(self, ray: Any, machines: ClusterMachines, on_its_machine: OnItsMachine, most_deaths: int) -> None:
        self._ray, self._machines = ray, machines
        self._excluded = set(machines.others())
        # One processor for each task, on as many machines as there are.
        self._call = ray.remote(on_its_machine)
        self._options: dict[str, Any] = {
            "num_cpus": 1,
            "max_retries": most_deaths,
            "scheduling_strategy": "SPREAD",
            "name": "fathom fleet index",
        }

    @property
    def n_processors(self) -> int:
        """The processors of the cluster; at least 1."""
        return max(int(self._ray.cluster_resources().get("CPU", 1)), 1)

    def send(self, run: Run, word: str, message: bytes) -> Any:
        """Start a task, and return the reference of its answer. Raises SettingsError where no machine may be used."""
        self._excluded |= set(self._machines.others())
        options = dict(self._options)
        if self._excluded:
            options["label_selector"] = {"ray.io/node-id": f"!in({', '.join(sorted(self._excluded))})"}
        return self._call.options(**options).remote(run, word, message)

    def ended(self, references: Sequence[Any], wait_s: float) -> Sequence[Any]:
        """Return references whose tasks have ended, after waiting for one."""
        ended, _ = self._ray.wait(list(references), num_returns=1, timeout=wait_s)
        return list(ended)

    def answer(self, reference: Any) -> tuple[str, bytes]:
        """Return the machine and the answer of a task that has ended; no machine where it has no Codefathom.

        Raises TaskLostError.
        """
        try:
            node, message = self._ray.get(reference)
            return str(node), bytes(message)
        except self._ray.exceptions.RayTaskError as error:
            if "No module named 'codefathom" not in str(error):
                raise  # a fault of this program
            return "", b""
        except self._ray.exceptions.RayError as error:
            raise TaskLostError(str(error).partition("\n")[0]) from error

    def refuses(self, node: str, word: str) -> None:
        """Start no further task on a machine that runs other code. Raises SettingsError where none is left."""
        self._excluded.add(node)
        self._machines.refuses(node, word)

    def cancel(self, reference: Any) -> None:
        """End a task that nobody waits for any more."""
        self._ray.cancel(reference, force=True)
