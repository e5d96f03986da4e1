import { Switch } from "antd";
import { useState } from "react";
import { get, post, remove, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Said } from "../i18n/said";
import { useMay } from "../session";
import { useFailure } from "./failure";
import type { Project } from "./listed";

/** Whether the index of a project follows its files by itself, and the switch for that. */
export function Watched({ project }: { readonly project: Project }) {
  const t = useText();
  const fail = useFailure();
  const isKept = !useMay(project.id)("maintainer");
  const [isBusy, setIsBusy] = useState(false);
  const path = `/projects/${encodeURIComponent(project.id)}/watch`;
  const watch = useLoad((signal) => get<Schemas["WatchOut"]>(path, undefined, signal), [path, project.generation]);
  if (!watch.value || project.url || project.revision) return null;
  const { on, by, interval_s, error } = watch.value;
  const turn = async (isOn: boolean) => {
    setIsBusy(true);
    await (isOn ? post(path) : remove(path)).catch(fail);
    watch.reload();
    setIsBusy(false);
  };
  return (
    <div className="watched">
      <label title={isKept ? t("projects.watched.kept") : undefined}>
        <Switch size="small" checked={on} loading={isBusy} disabled={isKept} onChange={(isOn) => void turn(isOn)} />{" "}
        {t("projects.watched")}
      </label>
      {by === "polling" && <span className="soft">{t("projects.watched.polling", { n: interval_s })}</span>}
      {error && (
        <p className="card-problem">
          <Said text={error} />
        </p>
      )}
    </div>
  );
}
