import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { inShort } from "./figures";

export interface TilesProps {
  readonly stats: Schemas["StatsOut"];
  readonly stores: Schemas["StoresOut"] | undefined;
}

/** The numbers that are looked at first. */
export function Tiles({ stats, stores }: TilesProps) {
  const t = useText();
  const { number, bytes, milliseconds } = useFormat();
  const hour = inShort(stats.minutes);
  const sum = (of: (project: Schemas["ProjectStatsOut"]) => number) =>
    stats.projects.reduce((total, project) => total + of(project), 0);
  const size = stores?.stores.reduce((total, store) => total + store.n_bytes, 0);
  return (
    <dl className="tiles">
      <Tile
        name={t("monitoring.files")}
        value={number(sum((project) => project.n_documents))}
        more={t("monitoring.files.more", { n: stats.projects.length })}
      />
      <Tile
        name={t("monitoring.chunks")}
        value={number(sum((project) => project.n_chunks))}
        more={t("monitoring.chunks.more", { n: sum((project) => project.n_symbols) })}
      />
      <Tile name={t("monitoring.requests")} value={number(hour.nRequests)} more={t("monitoring.requests.more")} />
      <Tile
        name={t("monitoring.slow")}
        value={hour.nRequests ? milliseconds(hour.p95) : "–"}
        more={hour.nRequests ? t("monitoring.slow.more", { time: milliseconds(hour.p50) }) : t("monitoring.none-yet")}
      />
      <Tile
        name={t("monitoring.failed")}
        value={number(hour.nFailed)}
        more={t("monitoring.failed.more")}
        isBad={hour.nFailed > 0}
      />
      <Tile
        name={t("monitoring.disk")}
        value={size === undefined ? "…" : bytes(size)}
        more={stores ? t("monitoring.disk.more", { size: bytes(stores.free_bytes) }) : ""}
        isBad={stores !== undefined && stores.free_bytes < 1e9}
      />
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly more: string;
  readonly isBad?: boolean;
}

function Tile({ name, value, more, isBad = false }: TileProps) {
  return (
    <div className={isBad ? "panel tile tile-bad" : "panel tile"}>
      <dt>{name}</dt>
      <dd className="tile-value">{value}</dd>
      <dd className="tile-more">{more}</dd>
    </div>
  );
}
