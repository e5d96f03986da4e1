import { CheckCircleFilled, CloseCircleFilled, MinusCircleFilled } from "@ant-design/icons";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useTold } from "../i18n/said";
import { tookText } from "./amounts";
import type { JobView, Report } from "./progress";

interface OutcomeProps {
  readonly view: JobView;
  readonly onLeftOut: () => void;
}

/** How a run ended that was seen to end. */
export function Outcome({ view, onLeftOut }: OutcomeProps) {
  const t = useText();
  const toldOf = useTold();
  const told = view.trouble && toldOf(view.trouble);
  const icons = { done: <CheckCircleFilled />, cancelled: <MinusCircleFilled />, failed: <CloseCircleFilled /> };
  const state = view.state === "done" || view.state === "cancelled" ? view.state : "failed";
  return (
    <div className={`outcome is-${state}`} role="status">
      {icons[state]}
      <div>
        {state === "done" && view.report && <Done report={view.report} />}
        {state === "cancelled" && t("projects.outcome.cancelled")}
        {state === "failed" && (
          <>
            {t("projects.outcome.failed", { why: told?.title ?? "" })}
            {told?.detail && <div>{told.detail}</div>}
            {view.trouble?.hint && <div className="soft">{told?.hint}</div>}
          </>
        )}
        <LeftOut view={view} onLeftOut={onLeftOut} />
      </div>
    </div>
  );
}

function Done({ report }: { readonly report: Report }) {
  const t = useText();
  const format = useFormat();
  const { n_added: added, n_changed: changed, n_removed: removed } = report;
  const values = { files: report.n_files, chunks: report.n_chunks, time: tookText(format, report.seconds) };
  return (
    <>
      <div>{t("projects.outcome.done", values)}</div>
      <div className="soft">
        {added + changed + removed > 0
          ? t("projects.outcome.changes", { added, changed, removed })
          : t("projects.outcome.same")}
      </div>
    </>
  );
}

function LeftOut({ view, onLeftOut }: OutcomeProps) {
  const t = useText();
  const skipped = Object.values(view.report?.skipped ?? {}).reduce((sum, count) => sum + count, 0);
  const failed = view.report?.n_failed ?? view.fileErrors.length;
  const parts = [
    skipped > 0 && t("projects.outcome.skipped", { n: skipped }),
    failed > 0 && t("projects.outcome.errors", { n: failed }),
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <button type="button" className="as-link" onClick={onLeftOut}>
      {parts.join(", ")}
    </button>
  );
}
