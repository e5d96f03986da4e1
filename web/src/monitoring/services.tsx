import { CheckCircleFilled, ExclamationCircleFilled } from "@ant-design/icons";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said } from "../i18n/said";

/** Which parts of the service work, and what to do about those that do not. */
export function Services({ found }: { readonly found: Schemas["ServicesOut"] }) {
  const t = useText();
  const { services, models_asked_at: askedAt } = found;
  return (
    <section className="panel block">
      <h2>{t("monitoring.services")}</h2>
      <p className="soft small" role="status">
        {askedAt ? <Asked at={askedAt} /> : t("monitoring.models.asking")}
      </p>
      <ul className="checks">
        {services.map((check) => (
          <li key={check.name}>
            {check.ok ? (
              <CheckCircleFilled className="check-ok" aria-hidden />
            ) : (
              <ExclamationCircleFilled className="check-bad" aria-hidden />
            )}
            <div>
              <strong>
                <Said text={check.name} notes={check.name_parts} />
              </strong>
              <span className="visually-hidden">
                {t(check.ok ? "monitoring.service.ok" : "monitoring.service.bad")}
              </span>
              <p>
                <Said text={check.detail} notes={check.detail_parts} />
              </p>
              {check.hint && (
                <p className="check-hint">
                  <Said text={check.hint} notes={check.hint_parts} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Asked({ at }: { readonly at: number }) {
  const t = useText();
  const { ago, date } = useFormat();
  return <span title={date(at)}>{t("monitoring.models.asked", { ago: ago(at) })}</span>;
}

/** Requests that failed for no fault of their own, the latest first. */
export function Errors({ failed }: { readonly failed: readonly Schemas["FailedOut"][] }) {
  const t = useText();
  const { ago, date } = useFormat();
  return (
    <section className="panel block errors">
      <h2>{t("monitoring.errors")}</h2>
      {failed.length === 0 && (
        <p className="all-quiet">
          <CheckCircleFilled className="check-ok" aria-hidden />
          {t("monitoring.errors.none")}
        </p>
      )}
      {/* Long lists scroll, and so the keyboard must get there. */}
      {failed.length > 0 && (
        <ul className="failures" tabIndex={0} aria-label={t("monitoring.errors")}>
          {failed.map((item) => (
            <li key={`${item.at} ${item.route}`}>
              <header>
                <span className="status">{item.status}</span>
                <code>
                  {item.method} {item.route}
                </code>
                <time dateTime={new Date(item.at * 1000).toISOString()} title={date(item.at)}>
                  {ago(item.at)}
                </time>
              </header>
              {item.detail && (
                <p>
                  <Said text={item.detail} />
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
