import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { post, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said, useTold } from "../i18n/said";
import { planText } from "./plan-text";

type Planned = Schemas["RunPlanOut"];
export type PlanAsked = Pick<Schemas["RunPlanIn"], "path" | "revision"> & {
  readonly settings: Record<string, string[]>;
};

const MOST_LANGUAGES = 6;

interface PlanProps {
  readonly asked: PlanAsked;
  /** Whether there is an index already. */
  readonly isUpdate: boolean;
}

/** What the first run would read, leave out and take, before anything starts. */
export function Plan({ asked, isUpdate }: PlanProps) {
  const t = useTexts(planText);
  const told = useTold();
  const wanted = JSON.stringify(asked);
  const plan = useLoad((signal) => post<Planned>("/projects/plan", asked, signal), [wanted]);
  return (
    <section className="plan" aria-label={t("plan")} aria-busy={plan.loading}>
      <h3>{t("plan")}</h3>
      {plan.problem && <p className="soft">{t("failed", { why: told(plan.problem).title })}</p>}
      {!plan.problem && !plan.value && <p className="soft">{t("loading")}</p>}
      {!plan.problem && plan.value && <Facts plan={plan.value} isUpdate={isUpdate} />}
    </section>
  );
}

function Facts({ plan, isUpdate }: { readonly plan: Planned; readonly isUpdate: boolean }) {
  const t = useTexts(planText);
  const format = useFormat();
  const languages = useLanguages(plan.languages);
  const time = t("time.n", { time: format.duration(Math.max(plan.seconds, 0.1)) });
  return (
    <>
      <dl>
        {plan.branch && <Fact name={t("branch")}>{plan.branch}</Fact>}
        <Fact name={t("files")}>
          {t("files.n", { n: format.number(plan.n_files), size: format.bytes(plan.n_bytes) })}
        </Fact>
        {plan.n_files > 0 && <Fact name={t("languages")}>{languages}</Fact>}
        <Fact name={t("time")}>{isUpdate ? t("time.update") : time}</Fact>
        <Fact name={t("index")}>{t("index.n", { size: format.bytes(plan.index_bytes) })}</Fact>
        {plan.embedding_tokens > 0 && (
          <Fact name={t("embedding")}>
            {t("embedding.n", { model: plan.embedding_model, tokens: format.number(plan.embedding_tokens) })}
          </Fact>
        )}
        {plan.model_tokens > 0 && (
          <Fact name={t("model")}>{t("model.n", { tokens: format.number(plan.model_tokens) })}</Fact>
        )}
        {typeof plan.cost === "number" && (
          <Fact name={t("cost")}>{t("cost.n", { cost: format.number(plan.cost, 4) })}</Fact>
        )}
        <Fact name={t("left-out")}>
          <LeftOut plan={plan} />
        </Fact>
      </dl>
      <p className="soft">{t("left-out.content")}</p>
    </>
  );
}

function LeftOut({ plan }: { readonly plan: Planned }) {
  const t = useTexts(planText);
  const format = useFormat();
  if (plan.left_out.length === 0) return t("left-out.none");
  return (
    <ul>
      {plan.left_out.map(({ reason, reason_parts, n, examples }) => (
        <li key={reason}>
          {format.number(n)} · <Said text={reason} notes={reason_parts} />{" "}
          <span className="mono soft">
            {examples.join(", ")}
            {n > examples.length && ", …"}
          </span>
        </li>
      ))}
      {plan.n_reasons_left_out > 0 && <li>{t("left-out.more", { n: plan.n_reasons_left_out })}</li>}
    </ul>
  );
}

/** What can be known of a repository elsewhere before it is copied: its branch, when somebody asks for it. */
export function PlanOfAddress({ url, revision }: { readonly url: string; readonly revision: string }) {
  const t = useTexts(planText);
  const told = useTold();
  const [isAsked, setAsked] = useState(false);
  const plan = useLoad(
    async (signal) => (isAsked ? post<Planned>("/projects/plan", { url, revision }, signal) : null),
    [isAsked, url, revision],
  );
  const branch = plan.value?.branch ?? "";
  return (
    <section className="plan" aria-label={t("plan")} aria-busy={plan.loading}>
      <h3>{t("plan")}</h3>
      {!isAsked && (
        <Button size="small" onClick={() => setAsked(true)}>
          {t("ask")}
        </Button>
      )}
      <div role="status">
        {isAsked && plan.loading && <p className="soft">{t("ask.asking")}</p>}
        {isAsked && !plan.loading && plan.problem && (
          <p className="soft">{t("failed", { why: told(plan.problem).title })}</p>
        )}
        {isAsked && !plan.loading && !plan.problem && (
          <dl>
            <Fact name={t("branch")}>{branch || t("ask.none")}</Fact>
          </dl>
        )}
      </div>
      <p className="soft">{t(isAsked ? "ask.after" : "ask.hint")}</p>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function useLanguages(counts: Readonly<Record<string, number>>): string {
  const t = useTexts(planText);
  const format = useFormat();
  const all = Object.entries(counts);
  const shown = all
    .slice(0, MOST_LANGUAGES)
    .map(([name, n]) => `${name === "text" ? t("text") : name} ${format.number(n)}`);
  if (all.length > MOST_LANGUAGES) shown.push(t("languages.more", { n: all.length - MOST_LANGUAGES }));
  return shown.join(", ");
}
