"""deploy/kubernetes.yaml: each object has the form of its schema, and the server takes its settings."""

from __future__ import annotations

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
from codefathom.server.http.auth import is_known_host
from codefathom.server.server_config import config_of

OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
BY_KIND = {item["kind"]: item for item in OBJECTS}
POD = BY_KIND["StatefulSet"]["spec"]["template"]["spec"]
CONTAINERS = [*POD["initContainers"], *POD["containers"]]
(SERVER,) = POD["containers"]
PROBES = [SERVER[name] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
TOKEN = "ada:" + "0" * 64


def _variables() -> dict[str, str]:
    """Return the variables of the container, of the image and of the objects."""
    image = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
    of_image = dict(re.findall(r"(?m)^ +((?:FATHOM|XDG)_\w+)=(\S+)", image))
    return {**of_image, **BY_KIND["ConfigMap"]["data"], **BY_KIND["Secret"]["stringData"]}


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: item["kind"])
def test_every_object_is_one_of_the_schema(item: dict[str, Any]) -> None:
    if not os.environ.get("CI"):
        pytest.importorskip("kubernetes_validate", reason="in the group dev")
    import kubernetes_validate

    kubernetes_validate.validate(item, "1.30", strict=True)


def test_objects_name_each_other() -> None:
    names = {(item["kind"], item["metadata"]["name"]) for item in OBJECTS}
    for container in CONTAINERS:
        for source in container["envFrom"]:
            ((kind, reference),) = source.items()
            assert ({"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], reference["name"]) in names
        volumes = {volume["name"] for volume in POD["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in BY_KIND["StatefulSet"]["spec"]["volumeClaimTemplates"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    labels = BY_KIND["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert labels == BY_KIND["Service"]["spec"]["selector"]
    (path,) = BY_KIND["Ingress"]["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"]["name"] == BY_KIND["Service"]["metadata"]["name"]
    assert BY_KIND["StatefulSet"]["spec"]["replicas"] == 1


def test_the_server_has_no_rights_that_it_does_not_need() -> None:
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["automountServiceAccountToken"] is False
    for container in CONTAINERS:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_probes_ask_what_is_answered_without_a_token() -> None:
    (port,) = SERVER["ports"]
    for probe in PROBES:
        assert probe["httpGet"]["port"] == port["name"]
        route = match_route("GET", probe["httpGet"]["path"])
        assert route is not None
        assert route.rule.scope == "open"
    # The kubelet asks by the address of the pod.
    assert is_known_host(f"10.244.1.7:{port['containerPort']}", [BY_KIND["ConfigMap"]["data"]["FATHOM_SERVER__HOSTS"]])


def test_no_pod_starts_before_it_has_a_token(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"server\.tokens"):
        load_settings(str(tmp_path), environ=_variables())


def test_all_that_is_written_lies_in_the_volumes() -> None:
    variables = _variables() | {"FATHOM_SERVER__TOKENS": TOKEN}
    config = config_of(load_settings("/", environ=variables).server, variables)
    written = [config.data_dir, *(variables[name] for name in ("HOME", "FATHOM_INDEX_DIR", "FATHOM_CACHE_DIR"))]
    mounts = {mount["mountPath"] for mount in SERVER["volumeMounts"]}
    assert all(any(Path(place).is_relative_to(mount) for mount in mounts) for place in written)
    assert config.hosts == (BY_KIND["Ingress"]["spec"]["rules"][0]["host"],)


def test_the_check_of_the_pod_finds_nothing_missing(tmp_path: Path) -> None:
    for name in ("data", "code"):
        (tmp_path / name).mkdir()
    variables = _variables() | {"FATHOM_SERVER__TOKENS": TOKEN, "FATHOM_SERVER__PORT": "0", "PATH": os.environ["PATH"]}
    moved = {
        name: re.sub(r"(?<![^,])/(data|code)", rf"{tmp_path.as_posix()}/\1", value)
        for name, value in variables.items()
        if name != "PATH"
    }
    (check,) = POD["initContainers"]
    ran = run_fathom(*check["args"], cwd=tmp_path, env=variables | moved)
    assert ran.returncode == 0 or b"make web" in ran.stdout, ran.stdout + ran.stderr
