import { Alert } from "antd";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said } from "../i18n/said";

interface ReadersProps {
  readonly hosts: readonly Schemas["ReaderHostOut"][];
  readonly problem: string;
}

/** What code hosts have said of who may read the repositories of a fleet; nothing where none is asked. */
export function Readers({ hosts, problem }: ReadersProps) {
  const t = useText();
  const { ago, date } = useFormat();
  if (problem) {
    const why = <Said text={problem} notes={[]} />;
    return <Alert type="error" showIcon title={t("projects.readers.closed")} description={why} />;
  }
  if (hosts.length === 0) return null;
  return (
    <section aria-label={t("projects.readers")}>
      <h3>{t("projects.readers")}</h3>
      {hosts.map((host) => (
        <div key={host.host} className="reader-host">
          <p>
            <strong>{host.host}</strong>: {t("projects.readers.lists", { n: host.n_lists })},{" "}
            {t("projects.readers.people", { n: host.n_logins, unknown: host.n_unknown })}
          </p>
          {host.newest_at ? (
            <p className="soft" title={date(host.oldest_at)}>
              {t("projects.readers.asked", { newest: ago(host.newest_at), oldest: ago(host.oldest_at) })}
            </p>
          ) : (
            <p className="soft">{t("projects.readers.none")}</p>
          )}
          {host.n_failing > 0 && (
            <Alert
              type="warning"
              showIcon
              title={t("projects.readers.failing", { n: host.n_failing, ago: ago(host.problem_at) })}
              description={<Said text={host.problem} notes={[]} />}
            />
          )}
        </div>
      ))}
    </section>
  );
}
