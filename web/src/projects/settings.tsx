import { Alert, Button, Form } from "antd";
import { useState } from "react";
import { asProblem, get, patch, type Problem, type Schemas, useLoad } from "../api/client";
import { type Key, useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { Checks } from "./checks";
import { changedBy, type Draft, needsIndex, triedOf } from "./chosen";
import { useFailureText } from "./failure";
import type { Project } from "./listed";
import { Field } from "./setting-field";

type Config = Schemas["ConfigOut"];

const FIELDS: readonly { readonly key: string; readonly label: Key; readonly hint: Key }[] = [
  { key: "llm.model", label: "projects.settings.model", hint: "projects.settings.model.hint" },
  { key: "embed.model", label: "projects.settings.embed", hint: "projects.settings.embed.hint" },
  { key: "answer.mask_secrets", label: "projects.settings.masking", hint: "projects.settings.masking.hint" },
  { key: "store.vectors", label: "projects.settings.store", hint: "projects.settings.store.hint" },
  { key: "source.required_exts", label: "projects.settings.extensions", hint: "projects.add.extensions.hint" },
  { key: "source.ignore", label: "projects.settings.ignore", hint: "projects.add.ignore.hint" },
];

interface SettingsProps {
  readonly project: Project;
  readonly onChange: () => void;
}

/** Settings that hold for one project, and whether its parts work with them. */
export function Settings({ project, onChange }: SettingsProps) {
  const config = useLoad((signal) => configOf(project.id, signal), [project.id, JSON.stringify(project.settings)]);
  if (config.problem) return <Trouble problem={config.problem} onRetry={config.reload} />;
  if (!config.value) return <Loading />;
  return <Fields project={project} {...config.value} onChange={onChange} />;
}

interface Loaded {
  readonly config: Config;
  /** Why the project cannot be opened with the settings it has: they can be corrected all the same. */
  readonly broken: Problem | undefined;
}

async function configOf(projectId: string, signal: AbortSignal): Promise<Loaded> {
  try {
    return { config: await get<Config>("/config", { project_id: projectId }, signal), broken: undefined };
  } catch (error) {
    if (signal.aborted) throw error;
    return { config: await get<Config>("/config", undefined, signal), broken: error as Problem };
  }
}

function Fields({ project, config, broken, onChange }: SettingsProps & Loaded) {
  const t = useText();
  const [refused, setRefused] = useState<Problem>();
  const [draft, setDraft] = useState<Draft>({});
  const [isSaving, setSaving] = useState(false);
  const [saved, setSaved] = useState<Draft>();
  const [trial, setTrial] = useState<{ readonly round: number; readonly settings: Record<string, unknown> }>();
  const isChanged = Object.keys(draft).length > 0;
  const save = async () => {
    setSaving(true);
    try {
      await patch(`/projects/${encodeURIComponent(project.id)}`, { settings: changedBy(project.settings, draft) });
      setSaved(draft);
      setDraft({});
      setRefused(undefined);
      onChange();
    } catch (error) {
      setRefused(asProblem(error));
    } finally {
      setSaving(false);
    }
  };
  return (
    <Form layout="vertical" className="settings" onFinish={() => void save()}>
      {broken && <Alert type="error" showIcon title={broken.detail} description={broken.hint} />}
      {FIELDS.map(({ key, ...field }) => {
        const setting = config.settings.find((one) => one.key === key);
        if (!setting) return null;
        return (
          <Field
            key={key}
            {...field}
            setting={setting}
            kept={project.settings}
            draft={draft}
            onChange={(value) => setDraft({ ...draft, [key]: value })}
          />
        );
      })}
      <div className="settings-do">
        <Button type="primary" htmlType="submit" disabled={!isChanged || isSaving}>
          {t("projects.settings.save")}
        </Button>
        <Button onClick={() => setTrial({ round: (trial?.round ?? 0) + 1, settings: triedOf(draft, config.settings) })}>
          {t("projects.settings.test")}
        </Button>
        <span role="status">{saved && !isChanged ? t("projects.settings.saved") : ""}</span>
      </div>
      {refused && <Refusal problem={refused} />}
      {saved && needsIndex(saved) && <Alert type="info" showIcon title={t("projects.settings.again")} />}
      {trial && <Checks key={trial.round} projectId={project.id} settings={trial.settings} />}
      {config.leaving && (
        <section className="leaving">
          <h3>{t("projects.settings.leaving")}</h3>
          <p className="soft">{config.leaving}</p>
        </section>
      )}
    </Form>
  );
}

/** Why the server does not store the settings: it stays until they are stored. */
function Refusal({ problem }: { readonly problem: Problem }) {
  const [title, description] = useFailureText()(problem);
  return <Alert type="error" showIcon role="alert" title={title} description={description} />;
}
