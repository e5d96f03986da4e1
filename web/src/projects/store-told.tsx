import { Alert, Button } from "antd";
import type { Problem, Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";

export type State = Schemas["StoreStateOut"];
export type Report = Schemas["StoreReportOut"];
export type Action = "test" | "init" | "verify" | "fix" | "move" | "remove";

/** What came of an action. */
export interface Outcome {
  readonly target: string;
  readonly action: Action;
  readonly state?: State;
  readonly report?: Report;
  readonly problem?: Problem;
}

const SAID = {
  test: "projects.store.answers",
  init: "projects.store.ready",
  remove: "projects.store.removed",
} as const;

/** Says what came of an action. */
export function Told({ outcome, onFix }: { readonly outcome: Outcome; readonly onFix?: () => void }) {
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
export function Described({ state }: { readonly state: State }) {
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
