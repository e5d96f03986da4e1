import { DislikeFilled, DownloadOutlined, LikeFilled } from "@ant-design/icons";
import { Button, Segmented } from "antd";
import { useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText, useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import { useFailure } from "../projects/failure";
import { ratingsText } from "./ratings-text";

type Rated = Schemas["RatedAnswerOut"];
type Choice = "all" | Rated["verdict"];

const STEP = 50;
const MOST = 200;

/** What readers think of answers, the latest first. */
export function Ratings() {
  const t = useTexts(ratingsText);
  const fail = useFailure();
  const [choice, setChoice] = useState<Choice>("all");
  const [limit, setLimit] = useState(STEP);
  const query = { limit, verdict: choice === "all" ? undefined : choice };
  const ratings = useLoad((signal) => get<Schemas["RatingsOut"]>("/ratings", query, signal), [limit, choice]);
  if (ratings.problem && !ratings.value) return <Trouble problem={ratings.problem} onRetry={ratings.reload} />;
  if (!ratings.value) return <Loading />;
  const { ratings: shown, n_good: nGood, n_bad: nBad, n_left_out: nLeftOut } = ratings.value;
  const options = (["all", "good", "bad"] as const).map((value) => ({ value, label: t(`ratings.${value}`) }));
  return (
    <section className="panel block">
      <h2>{t("ratings.title")}</h2>
      <p className="soft">{t("ratings.counts", { good: nGood, bad: nBad })}</p>
      {nGood + nBad > 0 && (
        <div className="ratings-choice">
          <Segmented<Choice> aria-label={t("ratings.which")} value={choice} onChange={setChoice} options={options} />
          <Button icon={<DownloadOutlined />} onClick={() => void download().catch(fail)}>
            {t("ratings.download")}
          </Button>
        </div>
      )}
      {shown.length > 0 && (
        <div className="people-table" tabIndex={0} role="region" aria-label={t("ratings.title")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("ratings.verdict")}</th>
                <th scope="col">{t("ratings.question")}</th>
                <th scope="col">{t("ratings.comment")}</th>
                <th scope="col">{t("ratings.by")}</th>
                <th scope="col">{t("ratings.when")}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((rated) => (
                <Row key={`${rated.answer_id} ${rated.by} ${rated.at}`} rated={rated} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {nLeftOut > 0 && limit < MOST && (
        <Button onClick={() => setLimit(Math.min(limit + STEP, MOST))}>{t("ratings.more")}</Button>
      )}
    </section>
  );
}

function Row({ rated }: { readonly rated: Rated }) {
  const t = useTexts(ratingsText);
  const page = useText();
  const format = useFormat();
  const isGood = rated.verdict === "good";
  return (
    <tr>
      <td>
        {isGood ? <LikeFilled aria-hidden /> : <DislikeFilled aria-hidden />} {t(`ratings.${rated.verdict}`)}
      </td>
      <td>
        <details>
          <summary>{rated.question}</summary>
          <div className="ratings-answer">{rated.answer}</div>
          <p className="soft">{[rated.projects.join(", "), rated.model.split("@")[0]].filter(Boolean).join(" · ")}</p>
        </details>
      </td>
      <td>{rated.comment}</td>
      <td>{rated.by || page("people.audit.nobody")}</td>
      <td>{format.date(rated.at)}</td>
    </tr>
  );
}

/** Saves all ratings as a file of JSON, as `evals` reads it. */
async function download(): Promise<void> {
  const ratings: Rated[] = [];
  for (let nLeftOut = 1; nLeftOut > 0;) {
    const query = { limit: MOST, offset: ratings.length };
    const page = await get<Schemas["RatingsOut"]>("/ratings", query);
    ratings.push(...page.ratings);
    nLeftOut = page.ratings.length ? page.n_left_out : 0;
  }
  const text = JSON.stringify({ ratings }, null, 2);
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: "ratings.json" }).click();
  URL.revokeObjectURL(url);
}
