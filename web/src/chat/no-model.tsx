import { Alert } from "antd";
import { Link } from "react-router";
import { useText } from "../i18n";
import { Worded } from "../parts";
import { CopyButton } from "./copy-button";
import type { Project } from "./projects";

const SETTING = '[llm]\nmodel = "ollama:qwen2.5-coder:14b"';

interface NoModelProps {
  /** Whose settings decide. */
  readonly project: Project | undefined;
}

/** Says what is missing for answers in words, and where to set it. */
export function NoModel({ project }: NoModelProps) {
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
          <p>
            <Worded text="chat.no-model.after" />
          </p>
          {project && (
            <Link to={`/projects?about=${encodeURIComponent(project.id)}&tab=settings`}>
              {t("chat.no-model.do", { project: project.name })}
            </Link>
          )}
        </>
      }
    />
  );
}

/** The same in a line, which opens. */
export function NoModelHint({ project }: NoModelProps) {
  const t = useText();
  return (
    <details className="no-model-hint">
      <summary>{t("chat.no-model")}</summary>
      <NoModel project={project} />
    </details>
  );
}
