import { Button, Popconfirm, Select, Space } from "antd";
import { useState } from "react";
import { asProblem, get, post, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import type { Project } from "./listed";
import type { Job } from "./progress";
import { Running } from "./running";
import { type Move, useMove } from "./store-move";
import { type Action, Described, type Outcome, type Report, type State, Told } from "./store-told";

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

async function asked(path: string, action: Action, target: string): Promise<Omit<Outcome, "target" | "action">> {
  if (action === "test") return { state: await get<State>(path, { target }) };
  if (action === "init" || action === "remove") return { state: await post<State>(`${path}/${action}`, { target }) };
  const body = { target, fix: action === "fix" };
  return { report: await post<Report>(`${path}/${action === "fix" ? "verify" : action}`, body) };
}
