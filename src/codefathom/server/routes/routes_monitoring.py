"""/monitoring, /metrics, /config and the status of a project: how the service is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from codefathom import __version__
from codefathom.errors import SettingsError
from codefathom.fleet.readers_file import reader_hosts
from codefathom.server.http.auth import Caller
from codefathom.server.metrics.hourly_history import DAYS
from codefathom.server.metrics.model_health import ModelReport
from codefathom.server.projects.project_settings import closed, names_host
from codefathom.server.projects.project_table import ServedProject
from codefathom.server.requests import overview
from codefathom.server.requests.asker_elsewhere import any_asker
from codefathom.server.requests.turns import in_turn
from codefathom.server.schemas.monitoring_schemas import (
    CacheOut,
    CheckOut,
    ConfigOut,
    FailedOut,
    FileReasonOut,
    HistoryOfServerOut,
    HourOut,
    MinuteOut,
    ProjectStatsOut,
    ProjectStatusOut,
    ReaderHostOut,
    RouteTimesOut,
    ServicesOut,
    SettingOut,
    StatsOut,
    StoreOut,
    StoresOut,
)
from codefathom.server.schemas.project_schemas import TrialIn
from codefathom.server.schemas.search_schemas import notes_out
from codefathom.server.searches.look import Look
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import CallerHere, ClientHere, ServerState
from codefathom.shapes import check_shape, left_out_shape
from codefathom.types import Check, Status

OfProject: TypeAlias = Annotated[
    str, Query(max_length=200, examples=["shop"], description="project; without it, the whole server")
]
AskModels: TypeAlias = Annotated[
    bool,
    Query(
        examples=[False],
        description="send a short request to each model now; without it, the server asks its models every five minutes "
        "while somebody looks",
    ),
]
_OF_CHECKS = 10  # all files of an index are read
_KINDS: dict[type, Literal["switch", "number", "fraction", "text", "list"]] = {
    bool: "switch",
    int: "number",
    float: "fraction",
    str: "text",
    tuple: "list",
}
ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]


def router(state: ServerState) -> APIRouter:
    """Return the routes that tell how the service is doing."""
    routes = APIRouter(tags=["monitoring"])
    _add_monitoring(routes, state)
    _add_settings(routes, state)
    return routes


def _add_monitoring(routes: APIRouter, state: ServerState) -> None:
    @routes.get(
        "/monitoring/services", summary="Check the parts of the server, or of a project, on request with its models"
    )
    async def services(client: ClientHere, project_id: OfProject = "", ask_models: AskModels = False) -> ServicesOut:
        if not project_id:
            return await run_in_threadpool(_services_of_server, state, ask_models=ask_models)

        def look(lease: SearchLease) -> tuple[Check, ...]:
            with any_asker(state, project_id, client.caller, lease) as asker:
                checks: tuple[Check, ...] = asker.look(Look("checks"))
                return checks

        checks = await in_turn(state, *client, look, patience=_OF_CHECKS)
        if ask_models:
            checks += await run_in_threadpool(overview.models_of_project, state, client.caller, project_id)
        return _services_out(state, checks)

    @routes.get("/monitoring/stats", summary="Show the numbers of indexed files, requests and failures")
    async def stats(client: ClientHere, caller: CallerHere) -> StatsOut:
        modules = await in_turn(state, *client, lambda lease: overview.modules(state, caller, lease))
        return await run_in_threadpool(_stats, state, modules)

    @routes.get("/monitoring/store", summary="Show the folders and the state of the indexes")
    async def store(client: ClientHere, caller: CallerHere) -> StoresOut:
        folder = state.config.data_dir
        stores = await in_turn(state, *client, lambda lease: overview.stores(state, caller, lease))
        listed = [
            StoreOut(project_id=item.project.id, problem=item.problem, **(_kept(item.status) if item.status else {}))
            for item in stores
        ]
        return StoresOut(data_dir=folder, free_bytes=overview.free_bytes(folder), stores=listed)

    @routes.get("/monitoring/history", summary="Show what the server did in each hour of the last 30 days")
    def history(
        days: Annotated[int, Query(ge=1, le=DAYS, examples=[7], description="how many days back")] = DAYS,
    ) -> HistoryOfServerOut:
        return HistoryOfServerOut(hours=[HourOut.model_validate(hour) for hour in state.history.hours(days)])

    @routes.get("/metrics", summary="All counts, for Prometheus", response_class=PlainTextResponse)
    def metrics() -> PlainTextResponse:
        text = state.measures.prometheus(overview.gauges(state)) + state.shard_watch.prometheus()
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _add_settings(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/projects/{project_id}/status", summary="Show the files that are not in the index, with the reasons")
    async def status(project_id: ProjectId, client: ClientHere) -> ProjectStatusOut:
        def look(lease: SearchLease) -> Status:
            with any_asker(state, project_id, client.caller, lease) as asker:
                status: Status = asker.look(Look("status"))
                return status

        report = await in_turn(state, *client, look)
        return ProjectStatusOut(
            project_id=project_id,
            root=report.root,
            paused=report.paused,
            damage=list(report.damage),
            damage_parts=notes_out(report.damages),
            skipped=[FileReasonOut(**left_out_shape(item)) for item in report.skipped],
            failures=[FileReasonOut(**left_out_shape(item)) for item in report.failures],
            **await run_in_threadpool(_readers, state, project_id, client.caller),
            **_kept(report),
        )

    @routes.post("/projects/{project_id}/test", summary="Test the models with settings, without saving the settings")
    def test(project_id: ProjectId, body: TrialIn) -> ServicesOut:
        return _services_out(state, state.projects.trial(project_id, body.settings))

    @routes.get("/config", summary="Show each setting, its value, and where the value comes from")
    def config(caller: CallerHere, project_id: OfProject = "") -> ConfigOut:
        if project_id:
            with state.projects.lease(project_id, caller) as engine:
                settings, leaving = engine.settings, engine.leaving()
        else:
            settings, leaving = overview.settings_of_server(state), ""
        listed = overview.listed_settings(settings, with_server=caller.may_manage)
        hosts = overview.open_hosts_of(state)
        return ConfigOut(settings=[_setting_out(item, hosts) for item in listed], leaving=leaving)


def _services_of_server(state: ServerState, *, ask_models: bool) -> ServicesOut:
    report = state.model_health.report(wait=ask_models)
    stores = state.store_health.report(wait=ask_models).checks
    return _services_out(state, (*overview.services(state), *stores), report)


def _stats(state: ServerState, modules: Mapping[str, Mapping[str, int]]) -> StatsOut:
    measures = state.measures
    projects = [project for project in state.projects.listed() if project.id in modules]
    return StatsOut(
        projects=[_stats_out(state, project, modules[project.id]) for project in projects],
        routes=[RouteTimesOut.model_validate(item) for item in measures.routes()],
        minutes=[MinuteOut.model_validate(item) for item in measures.minutes()],
        failed=[FailedOut.model_validate(item) for item in measures.failed()],
        cache=CacheOut.model_validate(state.cache.counts()),
        n_in_flight=measures.n_in_flight,
        n_opened=len(state.projects.opened),
    )


def _stats_out(state: ServerState, project: ServedProject, modules: Mapping[str, int]) -> ProjectStatsOut:
    held = state.projects.summary(project).held
    values = held._asdict() if held else {}
    values.pop("generation", None)
    return ProjectStatsOut.model_validate({"project_id": project.id, "modules": modules, **values})


def _services_out(state: ServerState, checks: tuple[Check, ...], models: ModelReport | None = None) -> ServicesOut:
    listed = [CheckOut(**check_shape(check)) for check in (*checks, *(models.checks if models else ()))]
    return ServicesOut(
        ok=all(check.ok for check in listed),
        version=__version__,
        started_at=state.measures.started_at,
        services=listed,
        models_asked_at=models.asked_at if models else None,
    )


def _readers(state: ServerState, project_id: str, caller: Caller) -> dict[str, Any]:
    """Return what the code hosts of a fleet have said, for those who may see all of it; nothing of a project."""
    project = state.projects.get(project_id, caller)
    if not state.projects.is_fleet(project) or not state.projects.sees_all(project_id, caller):
        return {}
    try:
        return {"reader_hosts": [ReaderHostOut(**host._asdict()) for host in reader_hosts(project.root)]}
    except SettingsError as error:
        return {"readers_problem": f"{error}; {error.hint}"}


def _kept(status: Status) -> dict[str, Any]:
    return {
        "index_dir": status.index_dir,
        "n_bytes": status.n_bytes,
        "generation": status.generation,
        "model": status.model,
        "n_without_vector": status.n_without_vector,
        "n_by_text": status.n_by_text,
        "encodings": dict(status.encodings),
        "n_by_head": status.n_by_head,
        "n_files_by_head": status.n_files_by_head,
        "compilers": [asdict(item) for item in status.compilers],
        "commits": asdict(status.commits) if status.commits else None,
        "views_current": status.views_current,
        "pending": status.pending,
        "incomplete": status.incomplete,
        "store_problem": status.store_problem,
        "n_failures": len(status.failures),
        "n_skipped": len(status.skipped),
    }


def _setting_out(setting: overview.Setting, hosts: list[str]) -> SettingOut:
    declared = setting.declared
    return SettingOut(
        key=declared.key,
        value=setting.value,
        default=declared.default,
        origin=setting.origin,
        help=declared.rule.help,
        choices=list(declared.rule.choices),
        kind=_KINDS[type(declared.default)],
        low=declared.rule.low,
        high=declared.rule.high,
        changeable=not closed(declared),
        closed=closed(declared),
        hosts=hosts if names_host(declared) else [],
    )
