import { CloseOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useState } from "react";
import { post } from "../api/client";
import { type Key, useLanguage, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { remainingText } from "./amounts";
import type { JobView } from "./progress";
import { useFailure } from "./failure";

interface RunningProps {
  readonly name: string;
  readonly view: JobView;
  readonly isLost: boolean;
}

const PHASES = [
  "queued",
  "starting",
  "clone",
  "waiting",
  "scan",
  "index",
  "purposes",
  "write",
  "embed",
  "map",
  "move",
  "paused",
];

/** Phases that count files. */
const OF_FILES = ["index", "purposes"];

/** How far a run is, and a button that ends it. */
export function Running({ name, view, isLost }: RunningProps) {
  const t = useText();
  const phase = t(`projects.phase.${PHASES.includes(view.phase) ? view.phase : "starting"}` as Key);
  return (
    <div className="running" data-phase={view.phase}>
      <div className="running-head">
        <span>{isLost ? t("projects.progress.lost") : phase}</span>
        <Cancel jobId={view.jobId} />
      </div>
      <div
        className={view.percent > 0 ? "bar" : "bar is-unknown"}
        role="progressbar"
        aria-label={t("projects.progress", { name })}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(view.percent)}
        aria-valuetext={`${phase}, ${Math.round(view.percent)} %`}
      >
        <span style={{ width: `${view.percent}%` }} />
      </div>
      <Numbers view={view} />
      <div className="running-file mono" title={view.currentFile}>
        {view.currentFile || (view.phase !== "clone" && view.message) || " "}
      </div>
    </div>
  );
}

function Numbers({ view }: { readonly view: JobView }) {
  const t = useText();
  const format = useFormat();
  const { language } = useLanguage();
  if (view.phase === "clone" && view.total > 0) {
    const done = format.percent(view.current / view.total);
    return <div className="running-numbers">{`${view.message} · ${done}`}</div>;
  }
  if (!OF_FILES.includes(view.phase)) return <div className="running-numbers"> </div>;
  const rate = view.filesPerSecond;
  const parts = [
    view.total > 0 && t("projects.progress.files", { current: view.current, total: view.total }),
    rate > 0 && t("projects.progress.rate", { n: format.number(rate, rate < 10 ? 1 : 0) }),
    view.remainingSeconds !== null &&
      view.remainingSeconds > 0 &&
      t("projects.progress.left", { time: remainingText(view.remainingSeconds, language) }),
  ];
  return <div className="running-numbers">{parts.filter(Boolean).join(" · ") || " "}</div>;
}

function Cancel({ jobId }: { readonly jobId: string }) {
  const t = useText();
  const fail = useFailure();
  const [isAsked, setAsked] = useState(false);
  const cancel = () => {
    setAsked(true);
    post(`/jobs/${jobId}/cancel`).catch((error: unknown) => {
      setAsked(false);
      fail(error);
    });
  };
  return (
    <Button size="small" type="text" icon={<CloseOutlined />} disabled={isAsked} onClick={cancel}>
      {t(isAsked ? "projects.cancelling" : "projects.cancel")}
    </Button>
  );
}
