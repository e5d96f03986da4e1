import { ArrowRightOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useText } from "../i18n";

const EXAMPLES = ["chat.example.1", "chat.example.2", "chat.example.3", "chat.example.4"] as const;

export interface WelcomeProps {
  readonly onExample: (text: string) => void;
  /** What should be known before one asks. */
  readonly children: ReactNode;
}

/** What stands where nothing was asked yet: what this is, and questions to begin with. */
export function Welcome({ onExample, children }: WelcomeProps) {
  const t = useText();
  return (
    <section className="welcome">
      <h2>{t("chat.welcome")}</h2>
      <p>{t("chat.welcome.explain")}</p>
      {children}
      <ul>
        {EXAMPLES.map((key) => (
          <li key={key}>
            <button type="button" onClick={() => onExample(t(key))}>
              <span>{t(key)}</span>
              <ArrowRightOutlined aria-hidden />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
