import { ReloadOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import { useCallback, useRef, useState } from "react";
import { get, type Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import { useTitle } from "../title";
import { Charts } from "./charts";
import { Indexes } from "./indexes";
import { Month } from "./month";
import { useRefreshing } from "./refreshing";
import { Routes } from "./routes";
import { Errors, Services } from "./services";
import { Tiles } from "./tiles";
import "./monitoring.css";

const STATS_EVERY_S = 5;
const SERVICES_EVERY_S = 15;
/** While the models are being asked. */
const ANSWERS_EVERY_S = 2;
// For this the server looks at every file of every project.
const STORES_EVERY_S = 60;
const HISTORY_EVERY_S = 60;

/** How the service is doing. */
export default function MonitoringPage() {
  useTitle(useText()("monitoring.title"));
  const stats = useRefreshing(
    (signal) => get<Schemas["StatsOut"]>("/monitoring/stats", undefined, signal),
    STATS_EVERY_S,
  );
  const services = useServices();
  const health = useRefreshing((signal) => get<Schemas["HealthOut"]>("/health", undefined, signal), SERVICES_EVERY_S);
  const stores = useRefreshing(
    (signal) => get<Schemas["StoresOut"]>("/monitoring/store", undefined, signal),
    STORES_EVERY_S,
  );
  const history = useRefreshing(
    (signal) => get<Schemas["HistoryOfServerOut"]>("/monitoring/history", undefined, signal),
    HISTORY_EVERY_S,
  );
  const reload = () => {
    services.ask();
    [stats, health, stores, history].forEach((load) => load.reload());
  };
  return (
    <div className="page monitoring">
      <Head services={services.value} at={stats.at} isLoading={stats.loading} onReload={reload} />
      {stats.problem && <Trouble problem={stats.problem} onRetry={reload} />}
      {!stats.value && !stats.problem && <Loading />}
      {stats.value && !stats.problem && (
        <>
          <Degraded reasons={health.value?.degraded ?? []} />
          <Tiles stats={stats.value} stores={stores.value} />
          <Charts minutes={stats.value.minutes} at={stats.at} />
          {history.value && <Month hours={history.value.hours} />}
          <section className="two">
            {services.value && <Services found={services.value} />}
            <Errors failed={stats.value.failed} />
          </section>
          <Indexes projects={stats.value.projects} stores={stores.value?.stores} />
          <Routes stats={stats.value} />
        </>
      )}
    </div>
  );
}

/** The parts of the service; `ask` asks the models now. */
function useServices() {
  const [everySeconds, setEvery] = useState(SERVICES_EVERY_S);
  const isToAsk = useRef(false);
  const load = useRefreshing(async (signal) => {
    const query = isToAsk.current ? { ask_models: true } : undefined;
    isToAsk.current = false;
    const services = await get<Schemas["ServicesOut"]>("/monitoring/services", query, signal);
    setEvery(services.models_asked_at === 0 ? ANSWERS_EVERY_S : SERVICES_EVERY_S);
    return services;
  }, everySeconds);
  const { reload } = load;
  const ask = useCallback(() => {
    isToAsk.current = true;
    reload();
  }, [reload]);
  return { ...load, ask };
}

interface HeadProps {
  readonly services: Schemas["ServicesOut"] | undefined;
  readonly at: number;
  readonly isLoading: boolean;
  readonly onReload: () => void;
}

function Head({ services, at, isLoading, onReload }: HeadProps) {
  const t = useText();
  const { duration, time } = useFormat();
  const nWrong = services?.services.filter((check) => !check.ok).length ?? 0;
  return (
    <header className="page-head">
      <h1>{t("monitoring.title")}</h1>
      {services && (
        <>
          <span className="soft small">
            {t("monitoring.version", {
              version: services.version,
              time: duration(Math.max(at - services.started_at, 0)),
            })}
          </span>
          <span className={nWrong ? "state state-warn" : "state state-ok"}>
            {nWrong ? t("monitoring.some-wrong", { n: nWrong }) : t("monitoring.all-well")}
          </span>
        </>
      )}
      <Tooltip title={at ? t("monitoring.updated", { time: time(at) }) : ""}>
        <Button
          icon={<ReloadOutlined spin={isLoading && !at} />}
          aria-label={t("monitoring.refresh")}
          onClick={onReload}
        />
      </Tooltip>
    </header>
  );
}

function Degraded({ reasons }: { readonly reasons: readonly string[] }) {
  const t = useText();
  if (reasons.length === 0) return null;
  return (
    <section className="degraded" role="status">
      <h2>{t("monitoring.degraded")}</h2>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </section>
  );
}
