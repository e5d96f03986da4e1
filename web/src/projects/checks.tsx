import { CheckCircleFilled, CloseCircleFilled } from "@ant-design/icons";
import { Spin } from "antd";
import { post, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Said } from "../i18n/said";
import { Trouble } from "../parts";

interface ChecksProps {
  readonly projectId: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Asks the models of a project whether they answer, with settings that need not be kept. */
export function Checks({ projectId, settings }: ChecksProps) {
  const t = useText();
  const services = useLoad(
    (signal) => post<Schemas["ServicesOut"]>(`/projects/${encodeURIComponent(projectId)}/test`, { settings }, signal),
    [projectId],
  );
  if (services.problem) return <Trouble problem={services.problem} onRetry={services.reload} />;
  if (!services.value) {
    return (
      <div className="checks-wait">
        <Spin />
      </div>
    );
  }
  const checks = services.value.services;
  const n = checks.filter((check) => !check.ok).length;
  return (
    <section className="checks" aria-label={t("projects.settings.tested")}>
      <div role="status">
        <h3>{n ? t("projects.settings.not-well", { n }) : t("projects.settings.all-well")}</h3>
      </div>
      <ul>
        {checks.map((check) => (
          <li key={check.name} className={check.ok ? "is-ok" : "is-bad"}>
            {check.ok ? <CheckCircleFilled aria-hidden /> : <CloseCircleFilled aria-hidden />}
            <div>
              <strong>
                <Said text={check.name} notes={check.name_parts} />
              </strong>
              <span className="visually-hidden">
                {t(check.ok ? "projects.settings.works" : "projects.settings.fails")}
              </span>{" "}
              <span className="soft">
                <Said text={check.detail} notes={check.detail_parts} />
              </span>
              {!check.ok && check.hint && (
                <div>
                  <Said text={check.hint} notes={check.hint_parts} />
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
