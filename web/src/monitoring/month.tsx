import { useMemo } from "react";
import type { Schemas } from "../api/client";
import { useLanguage, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Chart } from "./chart";
import { type Day, daysOf } from "./days";
import { StackedBar } from "./stacked-bar";

const ANSWERED = "var(--chart-1)";
const FAILED = "var(--chart-4)";

/** What the server did on each of the last 30 days; it survives a restart. */
export function Month({ hours }: { readonly hours: readonly Schemas["HourOut"][] }) {
  const { language } = useLanguage();
  const days = useMemo(() => daysOf(hours), [hours]);
  const names = useMemo(() => {
    const format = new Intl.DateTimeFormat(language, { month: "short", day: "numeric" });
    return days.map((day) => format.format(new Date(day.at * 1000)));
  }, [days, language]);
  return (
    <>
      <Questions days={days} names={names} />
      <Table days={days} names={names} />
    </>
  );
}

interface DaysProps {
  readonly days: readonly Day[];
  readonly names: readonly string[];
}

function Questions({ days, names }: DaysProps) {
  const t = useText();
  const { number, milliseconds } = useFormat();
  const n = days.reduce((sum, day) => sum + day.nQuestions, 0);
  const failed = days.reduce((sum, day) => sum + day.nFailed, 0);
  const most = Math.max(0, ...days.map((day) => day.nQuestions));
  return (
    <Chart
      title={t("monitoring.month")}
      summary={t("monitoring.month.summary", { n, most, failed })}
      keys={t("monitoring.month.keys")}
      end={t("monitoring.month.today")}
      legend={[
        { name: t("monitoring.answered"), colour: ANSWERED },
        { name: t("monitoring.of-failed"), colour: FAILED },
      ]}
      times={names}
      most={Math.max(most, 4)}
      axis={(value) => number(value)}
      tell={(index) => {
        const day = days[index];
        if (!day) return null;
        return (
          <>
            <div>{`${t("monitoring.answered")} ${number(day.nQuestions - day.nFailed)}`}</div>
            <div>{`${t("monitoring.of-failed")} ${number(day.nFailed)}`}</div>
            {day.p95 > 0 && <div>{`${t("monitoring.p95")} ${milliseconds(day.p95)}`}</div>}
          </>
        );
      }}
    >
      {(drawing) =>
        days.map((day, index) => (
          <StackedBar
            key={day.at}
            index={index}
            drawing={drawing}
            all={{ value: day.nQuestions, colour: ANSWERED }}
            part={{ value: day.nFailed, colour: FAILED }}
          />
        ))
      }
    </Chart>
  );
}

/** The same and more in numbers, the latest day first; days on which nothing was done are left out. */
function Table({ days, names }: DaysProps) {
  const t = useText();
  const { number, milliseconds, duration, bytes } = useFormat();
  const rows = days.map((day, index) => ({ day, name: names[index] })).filter(({ day }) => isBusy(day));
  return (
    <section className="panel block">
      <h2>{t("monitoring.month.table")}</h2>
      {rows.length === 0 && <p className="soft">{t("monitoring.month.none")}</p>}
      {rows.length > 0 && (
        <div className="table table-tall" tabIndex={0} role="region" aria-label={t("monitoring.month.table")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("monitoring.month.day")}</th>
                <th scope="col" className="number">
                  {t("monitoring.month.questions")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.of-failed")}
                </th>
                <th scope="col" className="number" title={t("monitoring.month.p95.explain")}>
                  {t("monitoring.p95")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.month.answers")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.month.tokens")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.month.cost")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.month.jobs")}
                </th>
                <th scope="col" className="number">
                  {t("monitoring.month.memory")}
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.reverse().map(({ day, name }) => (
                <tr key={day.at}>
                  <th scope="row">{name}</th>
                  <td className="number">{number(day.nQuestions)}</td>
                  <td className="number">{number(day.nFailed)}</td>
                  <td className="number">{day.p95 ? milliseconds(day.p95) : "–"}</td>
                  <td className="number">{number(day.nAnswers)}</td>
                  <td className="number">{number(day.tokens)}</td>
                  <td className="number">{day.cost === undefined ? "–" : number(day.cost, 4)}</td>
                  <td className="number">
                    {t("monitoring.month.jobs.one", { n: day.nJobs, failed: day.nFailedJobs })}
                    {day.nJobs > 0 && `, ${duration(day.jobSeconds)}`}
                  </td>
                  <td className="number">{day.memory ? bytes(day.memory) : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function isBusy(day: Day): boolean {
  return day.nQuestions + day.nAnswers + day.nJobs + day.memory > 0;
}
