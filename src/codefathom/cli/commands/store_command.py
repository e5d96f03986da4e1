"""`fathom store`: compares the store of the vectors with the index, moves them to another, removes them from one."""

from __future__ import annotations

from codefathom.cli.face import Face
from codefathom.cli.options import StoreCommandOptions
from codefathom.errors import UsageError
from codefathom.shapes import plain_shape, to_json
from codefathom.types import StoreReport, StoreState


def run(options: StoreCommandOptions, face: Face) -> int:
    """Do one action. Return 1 if a store differs from the index."""
    target = options.target or options.to
    if options.action in ("move", "remove", "init") and not target:
        raise UsageError(
            f"`fathom store {options.action}` needs the name of a store",
            hint=f"for example: fathom store {options.action} faiss",
        )
    with face.open() as engine:
        if options.action in ("test", "list", "init"):
            state = engine.stores.state(target, prepare=options.action == "init")
            text = _projects(state) if options.action == "list" else _state(state)
            face.write(to_json(plain_shape(state)) if face.common.json else text)
            return 0
        engine.refresh()
        if options.action == "remove":
            store = engine.stores.remove(target, options.project)
            face.write(
                to_json({"store": store})
                if face.common.json
                else f"removed {options.project or 'this project'} from {store}\n"
            )
            return 0
        if options.action == "move":
            before = engine.stores.in_force.vectors
            report = engine.stores.move(target)
            face.note(f"the vectors in {before} were kept; `fathom store remove {before}` removes them")
        else:
            report = engine.stores.verify(target, repair=options.fix)
    face.write(to_json(plain_shape(report)) if face.common.json else f"{_text(report)}\n")
    return 1 if report.problem else 0


def _text(report: StoreReport) -> str:
    if report.problem:
        return f"{report.store} differs from the index: {report.problem}; `fathom store verify --fix` fills it again"
    return f"{report.store} holds the {report.n_rows:,} vectors of the index, and finds {report.same:.0%} of a sample"


def _state(state: StoreState) -> str:
    width = max(map(len, state.state), default=0)
    lines = [f"  {name:{width}}  {value}" for name, value in state.state.items()]
    return "\n".join([f"{state.store} answers", *lines, ""])


def _projects(state: StoreState) -> str:
    if not state.projects:
        return f"{state.store} holds no project\n"
    width = max(map(len, state.projects))
    own = {state.project: "  this project"}
    lines = [f"{name:{width}}  {n_rows:>9,}{own.get(name, '')}" for name, n_rows in state.projects.items()]
    return "\n".join([*lines, ""])
