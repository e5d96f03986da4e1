import { Button } from "antd";
import { useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText, useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import { actionsText, isKnownAction } from "./actions-text";

const STEP = 50;
const MOST = 500;

/** Who did what, the latest first. */
export function Audit() {
  const t = useText();
  const format = useFormat();
  const [limit, setLimit] = useState(STEP);
  const audit = useLoad((signal) => get<Schemas["AuditOut"]>("/audit", { limit }, signal), [limit]);
  if (audit.problem && !audit.value) return <Trouble problem={audit.problem} onRetry={audit.reload} />;
  if (!audit.value) return <Loading />;
  const { entries, n_left_out } = audit.value;
  return (
    <section className="panel block">
      <h2>{t("people.audit")}</h2>
      {entries.length === 0 && <p className="soft">{t("people.audit.none")}</p>}
      {entries.length > 0 && (
        <div className="people-table" tabIndex={0} role="region" aria-label={t("people.audit")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("people.audit.when")}</th>
                <th scope="col">{t("people.audit.who")}</th>
                <th scope="col">{t("people.audit.what")}</th>
                <th scope="col">{t("people.audit.where")}</th>
                <th scope="col">{t("people.audit.details")}</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, place) => (
                <tr key={`${entry.at} ${place}`}>
                  <td>{format.date(entry.at)}</td>
                  <td>{entry.who || t("people.audit.nobody")}</td>
                  <Action action={entry.action} />
                  <td>{entry.project}</td>
                  <td lang="en">{entry.details}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {n_left_out > 0 && limit < MOST && (
        <Button onClick={() => setLimit(Math.min(limit + STEP, MOST))}>{t("people.audit.more")}</Button>
      )}
    </section>
  );
}

function Action({ action }: { readonly action: string }) {
  const t = useTexts(actionsText);
  return isKnownAction(action) ? <td>{t(action)}</td> : <td lang="en">{action}</td>;
}
