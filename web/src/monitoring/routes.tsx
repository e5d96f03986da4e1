import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";

/** How long each route takes, and how much the cache spares. */
export function Routes({ stats }: { readonly stats: Schemas["StatsOut"] }) {
  const t = useText();
  const { number, milliseconds } = useFormat();
  const slowest = Math.max(1, ...stats.routes.map((route) => route.p95_ms));
  return (
    <section className="panel block">
      <div className="block-head">
        <h2>{t("monitoring.routes")}</h2>
        <CacheLine stats={stats} />
      </div>
      <div className="table table-tall" tabIndex={0} role="region" aria-label={t("monitoring.routes")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("monitoring.route")}</th>
              {[t("monitoring.n-requests"), "p50", "p95", "p99"].map((name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
              <th aria-hidden className="bar-column" />
            </tr>
          </thead>
          <tbody>
            {stats.routes.map((route) => (
              <tr key={`${route.method} ${route.route}`}>
                <th scope="row">
                  <code>
                    <span className="method">{route.method}</span> {route.route}
                  </code>
                </th>
                <td className="number">{number(route.n_requests)}</td>
                <td className="number">{milliseconds(route.p50_ms)}</td>
                <td className="number">{milliseconds(route.p95_ms)}</td>
                <td className="number">{milliseconds(route.p99_ms)}</td>
                <td aria-hidden className="bar-column">
                  <i style={{ width: `${Math.max((100 * route.p95_ms) / slowest, 1)}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="soft small">{t("monitoring.since")}</p>
    </section>
  );
}

function CacheLine({ stats }: { readonly stats: Schemas["StatsOut"] }) {
  const t = useText();
  const { percent } = useFormat();
  const { n_entries, n_hits, n_misses } = stats.cache;
  const n = n_hits + n_misses;
  const rate = t("monitoring.cache.rate", { share: percent(n_hits / (n || 1)), n, entries: n_entries });
  return (
    <p className="soft small">
      {n ? rate : t("monitoring.cache.unused")} · {t("monitoring.opened", { n: stats.n_opened })}
    </p>
  );
}
