import { Alert } from "antd";
import { useText } from "../i18n";
import { Worded } from "../parts";
import { CopyButton } from "./copy-button";

const SETTING = '[llm]\nmodel = "ollama:qwen2.5-coder:14b"';

/** Says what is missing for answers in words, and where to set it. */
export function NoModel() {
  const t = useText();
  return (
    <Alert
      type="info"
      showIcon
      className="no-model"
      title={t("chat.no-model")}
      description={
        <>
          <p>
            <Worded text="chat.no-model.explain" />
          </p>
          <div className="code-block">
            <pre tabIndex={0}>
              <code>{SETTING}</code>
            </pre>
            <CopyButton className="code-block-copy" text={SETTING} label={t("chat.copy.setting")} />
          </div>
          <p className="soft">{t("chat.no-model.after")}</p>
        </>
      }
    />
  );
}

/** The same in a line, which opens. */
export function NoModelHint() {
  const t = useText();
  return (
    <details className="no-model-hint">
      <summary>{t("chat.no-model")}</summary>
      <NoModel />
    </details>
  );
}
