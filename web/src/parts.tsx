import { Button, Spin } from "antd";
import { Component, type ReactNode, useEffect, useState } from "react";
import type { Problem } from "./api/client";
import { type Key, useText } from "./i18n";
import { useTold } from "./i18n/said";
import "./parts.css";

/** Says that something is loaded, but not before it takes a while: what is there at once should not flicker. */
export function Loading() {
  const t = useText();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 250);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      {isLate && <Spin aria-hidden />}
      <span className="visually-hidden">{t("shell.loading")}</span>
    </div>
  );
}

export interface MessageProps {
  readonly title: string;
  /** h1 where this is all of a page. */
  readonly level?: "h1" | "h2";
  readonly detail?: ReactNode;
  readonly hint?: ReactNode;
  readonly icon?: ReactNode;
  readonly children?: ReactNode;
}

/** A few words in the middle of an empty place, and what to do about it. */
export function Message({ title, level: Heading = "h2", detail, hint, icon, children }: MessageProps) {
  return (
    <section className="message">
      {icon && (
        <div className="message-icon" aria-hidden>
          {icon}
        </div>
      )}
      <Heading>{title}</Heading>
      {detail && <p>{detail}</p>}
      {hint && <p className="message-hint">{hint}</p>}
      {children && <div className="message-do">{children}</div>}
    </section>
  );
}

/** An error of the server with its hint, and a button that tries again. */
export function Trouble({ problem, onRetry }: { readonly problem: Problem; readonly onRetry?: () => void }) {
  const t = useText();
  const told = useTold()(problem);
  const [title, hint] = problem.isOffline
    ? [t("shell.offline"), <Worded key="hint" text="shell.offline.hint" />]
    : [told.title, told.hint];
  return (
    <div role="alert">
      <Message title={title} detail={problem.isOffline ? undefined : told.detail} hint={hint}>
        {onRetry && <Button onClick={onRetry}>{t("shell.retry")}</Button>}
      </Message>
    </div>
  );
}

/** A text in which `words` in backquotes are code. */
export function Worded({ text }: { readonly text: Key }) {
  const t = useText();
  return t(text)
    .split("`")
    .map((part, index) => (index % 2 ? <code key={part}>{part}</code> : part));
}

interface BoundaryProps {
  readonly children: ReactNode;
  /** What is shown instead of what has failed; a message when left out. */
  readonly instead?: ReactNode;
}

/** Shows that a page has failed, instead of nothing at all. */
export class Boundary extends Component<BoundaryProps, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { children, instead } = this.props;
    return this.state.error ? (instead ?? <Broken error={this.state.error} />) : children;
  }
}

function Broken({ error }: { readonly error: Error }) {
  const t = useText();
  return (
    <div role="alert">
      <Message level="h1" title={t("shell.broken")} detail={<code>{error.message}</code>} hint={t("shell.broken.hint")}>
        <Button onClick={() => location.reload()}>{t("shell.reload")}</Button>
      </Message>
    </div>
  );
}
