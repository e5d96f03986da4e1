"""The recipes for Ray in `deploy/`: valid for the programs that read them, closed to others, and true of fathom."""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fathom import run_fathom
from tests.proxies import DEPLOY

from codefathom.config.configuration import load_settings
from codefathom.errors import SettingsError
from codefathom.server.access.route_table import match_route
from codefathom.server.server_config import config_of

from .ray_nodes import needs_ray

UP: dict[str, Any] = yaml.safe_load((DEPLOY / "ray.yaml").read_text(encoding="utf-8"))
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text(encoding="utf-8")))
CLUSTER = next(item for item in OBJECTS if item["kind"] == "RayCluster")
GROUPS = [CLUSTER["spec"]["headGroupSpec"], *CLUSTER["spec"]["workerGroupSpecs"]]
(GATEWAY,) = [group for group in GROUPS if group.get("groupName") == "gateway"]
(SERVER,) = GATEWAY["template"]["spec"]["containers"]
PAGE = (DEPLOY.parent / "docs" / "scale.md").read_text(encoding="utf-8")
PINNED = re.search(r'"ray>=([\d.]+),', (DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))


def _words(commands: list[str]) -> list[str]:
    return [word for command in commands for word in command.split()]


@needs_ray
def test_ray_up_takes_the_recipe() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(copy.deepcopy(UP)))


def test_machines_are_started_closed_and_silent() -> None:
    head, worker = (_words(UP[f"{name}_start_ray_commands"]) for name in ("head", "worker"))
    for words in (head, worker):
        assert {"RAY_AUTH_MODE=token", "RAY_worker_niceness=0", "--disable-usage-stats"} <= set(words)
    assert "--include-dashboard=false" in head
    assert "--port=6379" in head
    assert "--address=$RAY_HEAD_IP:6379" in worker
    assert f"fathom serve --cluster {UP['provider']['head_ip']}:6379" in PAGE


@needs_ray
def test_each_option_of_ray_exists() -> None:
    from ray.scripts.scripts import start, stop

    assert stop.name == "stop"
    options = {name for parameter in start.params for name in parameter.opts}
    used = {
        word.partition("=")[0] for word in re.findall(r"--[a-z-]+", " ".join(_words(UP["head_start_ray_commands"])))
    }
    assert used <= options
    assert {f"--{name}" for group in GROUPS for name in group["rayStartParams"]} <= options


@pytest.mark.parametrize("item", [item for item in OBJECTS if item is not CLUSTER], ids=lambda item: item["kind"])
def test_every_object_is_one_of_the_schema(item: dict[str, Any]) -> None:
    if not os.environ.get("CI"):
        pytest.importorskip("kubernetes_validate", reason="in the group dev")
    import kubernetes_validate

    kubernetes_validate.validate(item, "1.30", strict=True)


def test_ray_asks_for_a_token_and_nobody_else_reaches_it() -> None:
    spec = CLUSTER["spec"]
    assert spec["authOptions"] == {"mode": "token"}
    assert PINNED is not None
    assert spec["rayVersion"].startswith(f"{PINNED[1]}.")
    assert spec["headGroupSpec"]["serviceType"] == "ClusterIP"
    for group in GROUPS:
        (container,) = group["template"]["spec"]["containers"]
        assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/fleet"}
    rays, http = (item["spec"] for item in OBJECTS if item["kind"] == "NetworkPolicy")
    mine = {"matchLabels": {"ray.io/cluster": CLUSTER["metadata"]["name"]}}
    assert (rays["podSelector"], rays["ingress"]) == (mine, [{"from": [{"podSelector": mine}]}])
    assert http["podSelector"]["matchLabels"] == GATEWAY["template"]["metadata"]["labels"]
    assert http["ingress"] == [{"ports": [{"port": SERVER["ports"][0]["name"]}]}]
    assert not any(item["kind"] == "Ingress" for item in OBJECTS)


def test_the_gateway_is_a_server_that_asks_the_cluster(tmp_path: Path) -> None:
    variables = {item["name"]: item["value"] for item in SERVER["env"] if item["name"].startswith("FATHOM")}
    (secret,) = (item["stringData"] for item in OBJECTS if item["kind"] == "Secret")
    with pytest.raises(SettingsError, match=r"server\.tokens"):  # before it has a token
        load_settings("/", environ=variables | secret)
    variables |= {"FATHOM_SERVER__TOKENS": "ada:" + "0" * 64}
    settings = load_settings("/", environ=variables)
    config = config_of(settings.server, variables | {"HOME": str(tmp_path)})
    assert settings.index.fleet_watch_s == 600
    assert config.port == SERVER["ports"][0]["containerPort"]
    assert config.data_dir.startswith("/fleet/")
    (command,) = SERVER["args"]
    assert f"--cluster {CLUSTER['metadata']['name']}-head-svc:6379" in command
    ran = run_fathom("serve", "--help", cwd=tmp_path, env=dict(os.environ))
    assert set(re.findall(r"--[a-z-]+", command)) <= set(re.findall(r"--[a-z-]+", ran.stdout.decode()))
    route = match_route("GET", SERVER["readinessProbe"]["httpGet"]["path"])
    assert route is not None
    assert route.rule.scope == "open"
