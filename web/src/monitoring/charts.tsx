import { useMemo } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Chart, type Drawing } from "./chart";
import { inShort, stretches, wholeHour } from "./figures";
import { StackedBar } from "./stacked-bar";

type Minute = Schemas["MinuteOut"];

const ANSWERED = "var(--chart-1)";
const FAILED = "var(--chart-4)";
const HALF = "var(--chart-5)";
const MOST = "var(--chart-2)";

/** Throughput and latency of the last hour. */
export function Charts({ minutes, at }: { readonly minutes: readonly Minute[]; readonly at: number }) {
  const format = useFormat();
  const hour = useMemo(() => wholeHour(minutes, at), [minutes, at]);
  const times = useMemo(() => hour.map((minute) => format.time(minute.at)), [hour, format]);
  return (
    <section className="two">
      <Throughput hour={hour} times={times} />
      <Latency hour={hour} times={times} />
    </section>
  );
}

interface HourProps {
  readonly hour: readonly Minute[];
  readonly times: readonly string[];
}

function Throughput({ hour, times }: HourProps) {
  const t = useText();
  const { number } = useFormat();
  const short = inShort(hour);
  return (
    <Chart
      title={t("monitoring.throughput")}
      summary={t("monitoring.throughput.summary", { n: short.nRequests, most: short.most, failed: short.nFailed })}
      legend={[
        { name: t("monitoring.answered"), colour: ANSWERED },
        { name: t("monitoring.of-failed"), colour: FAILED },
      ]}
      times={times}
      most={Math.max(short.most, 4)}
      axis={(value) => number(value)}
      tell={(index) => (
        <>
          <div>{`${t("monitoring.answered")} ${number((hour[index]?.n_requests ?? 0) - (hour[index]?.n_failed ?? 0))}`}</div>
          <div>{`${t("monitoring.of-failed")} ${number(hour[index]?.n_failed ?? 0)}`}</div>
        </>
      )}
    >
      {(drawing) =>
        hour.map((minute, index) => (
          <StackedBar
            key={minute.at}
            index={index}
            drawing={drawing}
            all={{ value: minute.n_requests, colour: ANSWERED }}
            part={{ value: minute.n_failed, colour: FAILED }}
          />
        ))
      }
    </Chart>
  );
}

function Latency({ hour, times }: HourProps) {
  const t = useText();
  const { milliseconds } = useFormat();
  const worst = (of: (minute: Minute) => number) => Math.max(0, ...hour.map(of));
  const [p50, p95] = [worst((minute) => minute.p50_ms), worst((minute) => minute.p95_ms)];
  return (
    <Chart
      title={t("monitoring.latency")}
      summary={t("monitoring.latency.summary", { p50: milliseconds(p50), p95: milliseconds(p95) })}
      legend={[
        { name: t("monitoring.p50"), colour: HALF },
        { name: t("monitoring.p95"), colour: MOST },
      ]}
      times={times}
      most={p95 || 10}
      axis={milliseconds}
      tell={(index) => {
        const minute = hour[index];
        if (!minute?.n_requests) return "–";
        return (
          <>
            <div>{`${t("monitoring.p50")} ${milliseconds(minute.p50_ms)}`}</div>
            <div>{`${t("monitoring.p95")} ${milliseconds(minute.p95_ms)}`}</div>
          </>
        );
      }}
    >
      {(drawing) => (
        <>
          <Line drawing={drawing} colour={MOST} values={hour.map((one) => (one.n_requests ? one.p95_ms : undefined))} />
          <Line drawing={drawing} colour={HALF} values={hour.map((one) => (one.n_requests ? one.p50_ms : undefined))} />
        </>
      )}
    </Chart>
  );
}

interface LineProps {
  readonly drawing: Drawing;
  readonly colour: string;
  readonly values: readonly (number | undefined)[];
}

/** Minutes in which nothing was asked interrupt the line; one between two of them is a dot. */
function Line({ drawing, colour, values }: LineProps) {
  const place = (index: number, value: number) => [drawing.x(index) + drawing.step / 2, drawing.y(value)] as const;
  return stretches(values).map(({ from, points }) => {
    const places = points.map((value, index) => place(from + index, value));
    const [first] = places;
    if (places.length === 1 && first) return <circle key={from} cx={first[0]} cy={first[1]} r={3} fill={colour} />;
    const path = places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    return <path key={from} className="chart-line" d={`M${path}`} stroke={colour} />;
  });
}
