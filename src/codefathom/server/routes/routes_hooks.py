"""/hooks: what code hosts send after a push brings up one repository of a fleet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Request, status
from fastapi.concurrency import run_in_threadpool

from codefathom.errors import UsageError
from codefathom.fleet.fleet_list import FleetList, NamedFleet
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.remote_sources import clone_addresses
from codefathom.fleet.sources import is_branch_read
from codefathom.project.location import locate
from codefathom.remote.keyring_keys import keyring_key
from codefathom.server.http.problem_json import ForbiddenError, NotFoundError
from codefathom.server.requests.push_events import LEAST_SECRET, SECRET, is_signed, place_of_address, push_event
from codefathom.server.schemas.job_schemas import PushOut
from codefathom.server.state import ServerState

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["company"])]


def router(state: ServerState) -> APIRouter:
    """Return the route for push events."""
    routes = APIRouter(tags=["jobs"])

    @routes.post(
        "/hooks/{project_id}",
        summary="Take a push event of a code host, and bring its repository of a fleet up to date",
        status_code=status.HTTP_202_ACCEPTED,
    )
    async def push(project_id: ProjectId, request: Request) -> PushOut:
        body = await request.body()  # at most server.max_body_bytes
        return await run_in_threadpool(_take, state, project_id, dict(request.headers), body)

    return routes


def _take(state: ServerState, project_id: str, headers: Mapping[str, str], body: bytes) -> PushOut:
    project = next((item for item in state.projects.listed() if item.id == project_id), None)
    fleet = FleetList().of_root(project.root) if project is not None and not project.revision else None
    secret = _secret_of(fleet, state) if fleet is not None else ""
    # Nobody without the secret learns which fleets are here, or that one takes no events.
    if not is_signed(headers, body, secret or "-") or not secret or project is None or fleet is None:
        raise ForbiddenError("this event is not signed as it must be", hint="see Webhooks in docs/scale.md")
    try:
        event = push_event(headers, body)
    except ValueError as error:
        raise UsageError(f"this is no push event: {error}", hint="let the host send JSON") from error
    patterns = locate(fleet.root, is_root=True).settings.source.fleet_branches
    if event is None or (event.branch and not is_branch_read(event.branch, patterns)):
        return PushOut(status="ignored")
    names = _repositories(fleet.root, event.places)
    if not names:
        raise NotFoundError("this repository is not in the fleet", hint="a run of `fathom fleet index` brings new ones")
    state.jobs.submit_some(project.id, project.root, names, settings=project.settings)
    return PushOut(status="accepted")


def _repositories(root: str, places: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the cloned repositories of a fleet with one of these addresses."""
    with closing(Manifest(root)) as manifest:
        addresses = clone_addresses(root, manifest.repositories())
    return tuple(name for name, address in addresses.items() if place_of_address(address) in places)


def _secret_of(fleet: NamedFleet, state: ServerState) -> str:
    """Return the secret for events of a fleet: its own, else that of all; "" for none, or one that is too short."""
    own = f"{SECRET}_{re.sub('[^A-Z0-9]', '_', fleet.name.upper())}"
    variables = state.config.variables
    secret = next((value for name in (own, SECRET) if (value := variables.get(name, "").strip())), "")
    secret = secret or keyring_key(own, SECRET)
    return secret if len(secret) >= LEAST_SECRET else ""
