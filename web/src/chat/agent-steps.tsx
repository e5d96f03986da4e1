import {
  BulbOutlined,
  CheckCircleOutlined,
  ExclamationCircleOutlined,
  LoadingOutlined,
  ToolOutlined,
} from "@ant-design/icons";
import { type ReactNode, useMemo, useState } from "react";
import { useFormat } from "../i18n/format";
import { useText } from "../i18n";
import type { Step } from "./answer";
import { type Told, toldOf } from "./steps";

/** What an agent has thought, called and seen: open while it looks, folded up once it answers. */
export function AgentSteps({ steps, isRunning }: { readonly steps: readonly Step[]; readonly isRunning: boolean }) {
  const t = useText();
  const told = useMemo(() => toldOf(steps), [steps]);
  const [isOpen, setOpen] = useState<boolean>();
  const n = told.filter((one) => one.kind !== "end").length;
  if (!told.length) return null;
  return (
    <details
      className="steps"
      open={isOpen ?? isRunning}
      onToggle={(event) => {
        if (event.currentTarget.open !== (isOpen ?? isRunning)) setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        {isRunning ? <LoadingOutlined aria-hidden /> : <ToolOutlined aria-hidden />} {t("chat.steps", { n })}
      </summary>
      <ol className="step-list">
        {told.map((one, index) => (
          <StepItem key={index} told={one} isRunning={isRunning} />
        ))}
      </ol>
    </details>
  );
}

function StepItem({ told, isRunning }: { readonly told: Told; readonly isRunning: boolean }) {
  return (
    <li>
      <span className="step-icon" aria-hidden>
        {iconOf(told, isRunning)}
      </span>
      <div className="step-body">
        {told.kind === "thought" && <Thought text={told.text} />}
        {told.kind === "end" && <End {...told} />}
        {told.kind === "call" && <Call {...told} />}
        {told.kind === "call" && told.observed && <Found {...told.observed} />}
      </div>
    </li>
  );
}

function iconOf(told: Told, isRunning: boolean): ReactNode {
  if (told.kind === "thought") return <BulbOutlined />;
  if (told.kind === "end") return <CheckCircleOutlined />;
  if (isRunning && !told.observed) return <LoadingOutlined />;
  return told.observed?.isError ? <ExclamationCircleOutlined /> : <ToolOutlined />;
}

function Thought({ text }: { readonly text: string }) {
  const t = useText();
  return (
    <span className="step-thought">
      <span className="visually-hidden">{t("chat.step.thought")}: </span>
      {text}
    </span>
  );
}

type CallTold = Extract<Told, { kind: "call" }>;

function Call({ tool, given, observed }: CallTold) {
  const t = useText();
  const format = useFormat();
  const n = observed?.places.length ?? 0;
  return (
    <span className="step-call">
      <code>{tool}</code> <span className="step-given">{given}</span>
      {observed && (
        <span className="step-told">
          {observed.isError && <span className="step-failed">{t("chat.step.failed")}</span>}
          {n > 0 && <span>{t("chat.step.places", { n })}</span>}
          <span>{format.milliseconds(observed.milliseconds)}</span>
        </span>
      )}
    </span>
  );
}

function Found({ text }: { readonly text: string }) {
  const t = useText();
  if (!text.trim()) return null;
  return (
    <details className="step-found">
      <summary>{t("chat.step.result")}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

function End({ rounds, stoppedBy }: Extract<Told, { kind: "end" }>) {
  const t = useText();
  if (stoppedBy === "provider") return t("chat.step.end.provider");
  if (stoppedBy === "rounds") return t("chat.step.end.rounds", { n: rounds });
  if (stoppedBy === "tokens" || stoppedBy === "cost" || stoppedBy === "time") {
    return t("chat.step.end.limit", { limit: t(`chat.limit.${stoppedBy}`) });
  }
  return t("chat.step.end", { n: rounds });
}
