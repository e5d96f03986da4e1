import { Alert, Button, Popconfirm, Select, Space } from "antd";
import { useEffect, useRef, useState } from "react";
import { asProblem, get, isAbort, post, Problem, type Schemas, useLoad } from "../api/client";
import { readEvents } from "../api/events";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import type { Project } from "./listed";
import { after, type Job, type JobView, waiting } from "./progress";
import { Running } from "./running";

type State = Schemas["StoreStateOut"];
type Report = Schemas["StoreReportOut"];
type Action = "test" | "init" | "verify" | "fix" | "move" | "remove";

const SAID = {
  test: "projects.store.answers",
  init: "projects.store.ready",
  remove: "projects.store.removed",
} as const;

interface Outcome {
  readonly target: string;
  readonly action: Action;
  readonly state?: State;
  readonly report?: Report;
  readonly problem?: Problem;
}

/** Where the vectors of a project are: what that store says, and the way to another one. */
export function Store({ project }: { readonly project: Project }) {
  const t = useText();
  const path = `/projects/${encodeURIComponent(project.id)}/store`;
  const used = useLoad((signal) => get<State>(path, undefined, signal), [project.id]);
  const [target, setTarget] = useState("");
  const [running, setRunning] = useState<Action>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [move, setMove] = useState<Move>();
  const follow = useMove(project.id, setMove, (ended) => {
    setOutcome(ended);
    used.reload();
  });
  if (!used.value) return used.problem ? <Trouble problem={used.problem} onRetry={used.reload} /> : <Loading />;
  const chosen = target || used.value.choices[0] || "";
  const run = async (action: Action) => {
    setRunning(action);
    setOutcome(undefined);
    try {
      if (action === "move") {
        await follow(await post<Job>(`${path}/move`, { target: chosen }));
        setRunning(undefined);
        return;
      }
      setOutcome({ target: chosen, action, ...(await asked(path, action, chosen)) });
      if (action === "remove") used.reload();
    } catch (error) {
      setOutcome({ target: chosen, action, problem: asProblem(error) });
    }
    setRunning(undefined);
  };
  const isBusy = running !== undefined || move !== undefined;
  const button = (action: Action, label: string) => (
    <Button loading={running === action} disabled={isBusy} onClick={() => void run(action)}>
      {label}
    </Button>
  );
  return (
    <div className="store">
      <section aria-label={t("projects.store.used")}>
        <h3>{t("projects.store.used")}</h3>
        <Described state={used.value} />
      </section>
      <section aria-label={t("projects.store.other")}>
        <h3>{t("projects.store.other")}</h3>
        <p className="soft">{t("projects.store.hint")}</p>
        <Space wrap>
          <Select
            aria-label={t("projects.store.name")}
            value={chosen}
            onChange={setTarget}
            options={used.value.choices.map((name) => ({ value: name, label: name }))}
            style={{ minWidth: 130 }}
          />
          {button("test", t("projects.store.test"))}
          {button("init", t("projects.store.init"))}
          {button("verify", t("projects.store.verify"))}
          {button("move", t("projects.store.move"))}
          <Popconfirm
            title={t("projects.store.remove.sure", { name: chosen })}
            okText={t("projects.store.remove")}
            cancelText={t("projects.store.keep")}
            onConfirm={() => void run("remove")}
          >
            <Button danger disabled={isBusy} loading={running === "remove"}>
              {t("projects.store.remove")}
            </Button>
          </Popconfirm>
        </Space>
        {move && <Running name={project.name} view={move.view} isLost={move.isLost} />}
        <div role="status">
          {outcome && <Told outcome={outcome} onFix={isBusy ? undefined : () => void run("fix")} />}
        </div>
      </section>
    </div>
  );
}

interface Move {
  readonly view: JobView;
  readonly isLost: boolean;
}

/** Follow the move that runs when the page comes, and each that is begun here, to its end. */
function useMove(projectId: string, onMove: (move: Move | undefined) => void, onEnd: (ended: Outcome) => void) {
  const controller = useRef<AbortController>(undefined);
  const latest = useRef({ onMove, onEnd });
  latest.current = { onMove, onEnd };
  const follow = useRef(async (job: Job) => {
    const signal = controller.current?.signal;
    const target = job.move_to;
    let view = waiting(job.id);
    const tell = (isLost: boolean) => latest.current.onMove({ view, isLost });
    tell(false);
    try {
      await readEvents(`/jobs/${job.id}/events`, { signal, onRetry: () => tell(true) }, (event) => {
        view = after(view, event);
        tell(false);
      });
    } catch (error) {
      if (isAbort(error)) return;
      latest.current.onEnd({ target, action: "move", problem: asProblem(error) });
    }
    latest.current.onMove(undefined);
    if (view.moved) latest.current.onEnd({ target, action: "move", report: view.moved });
    else if (view.trouble) latest.current.onEnd({ target, action: "move", problem: problemOf(view.trouble) });
  });
  useEffect(() => {
    const own = (controller.current = new AbortController());
    get<Schemas["JobsOut"]>("/jobs", { project_id: projectId }, own.signal)
      .then(({ jobs }) => jobs.find((job) => job.move_to && (job.state === "queued" || job.state === "running")))
      .then((job) => job && follow.current(job))
      .catch(() => undefined); // what is in use is shown all the same
    return () => own.abort();
  }, [projectId]);
  return follow.current;
}

function problemOf(trouble: Schemas["TroubleOut"]): Problem {
  return new Problem(502, trouble.code, trouble.detail, trouble.hint);
}

async function asked(path: string, action: Action, target: string): Promise<Omit<Outcome, "target" | "action">> {
  if (action === "test") return { state: await get<State>(path, { target }) };
  if (action === "init" || action === "remove") return { state: await post<State>(`${path}/${action}`, { target }) };
  const body = { target, fix: action === "fix" };
  return { report: await post<Report>(`${path}/${action === "fix" ? "verify" : action}`, body) };
}

function Told({ outcome, onFix }: { readonly outcome: Outcome; readonly onFix?: () => void }) {
  const t = useText();
  const format = useFormat();
  const { report, state, problem } = outcome;
  if (problem) return <Alert type="error" showIcon title={problem.detail} description={problem.hint} />;
  if (report?.problem) {
    const again = onFix && <Button onClick={onFix}>{t("projects.store.fix")}</Button>;
    const title = t("projects.store.differs", { name: report.store });
    return <Alert type="warning" showIcon title={title} description={report.problem} action={again} />;
  }
  if (report) {
    const values = { name: report.store, n: report.n_rows, percent: format.percent(report.same) };
    return <Alert type="success" showIcon title={t("projects.store.same", values)} />;
  }
  return (
    <>
      <Alert type="success" showIcon title={t(SAID[outcome.action as keyof typeof SAID], { name: outcome.target })} />
      {state && <Described state={state} />}
    </>
  );
}

/** What a store says of itself, and the projects in it. */
function Described({ state }: { readonly state: State }) {
  const t = useText();
  const format = useFormat();
  const projects = Object.entries(state.projects);
  return (
    <>
      <table className="left-out-table">
        <tbody>
          <tr>
            <th scope="row">{t("projects.store.name")}</th>
            <td>{state.store}</td>
          </tr>
          {Object.entries(state.state).map(([name, value]) => (
            <tr key={name}>
              <th scope="row" className="mono">
                {name}
              </th>
              <td className="mono">{typeof value === "number" ? format.number(value) : String(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {projects.length > 0 && (
        <table className="left-out-table">
          <thead>
            <tr>
              <th scope="col">{t("projects.store.project")}</th>
              <th scope="col">{t("projects.store.vectors")}</th>
            </tr>
          </thead>
          <tbody>
            {projects.map(([name, n]) => (
              <tr key={name}>
                <td className="mono">
                  {name} {name === state.project && <span className="soft">{t("projects.store.this")}</span>}
                </td>
                <td>{format.number(n)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
