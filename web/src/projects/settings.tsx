import { Alert, Button, Form, Input, Select } from "antd";
import { useState } from "react";
import { asProblem, get, patch, type Problem, type Schemas, useLoad } from "../api/client";
import { type Key, useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { Checks } from "./checks";
import { changedBy, type Draft, needsIndex, type Setting, shownOf, triedOf, type Value } from "./chosen";
import { useFailureText } from "./failure";
import type { Project } from "./listed";

type Config = Schemas["ConfigOut"];

const FIELDS: readonly { readonly key: string; readonly label: Key; readonly hint: Key }[] = [
  { key: "llm.model", label: "projects.settings.model", hint: "projects.settings.model.hint" },
  { key: "embed.model", label: "projects.settings.embed", hint: "projects.settings.embed.hint" },
  { key: "answer.mask_secrets", label: "projects.settings.masking", hint: "projects.settings.masking.hint" },
  { key: "store.vectors", label: "projects.settings.store", hint: "projects.settings.store.hint" },
  { key: "source.required_exts", label: "projects.settings.extensions", hint: "projects.add.extensions.hint" },
  { key: "source.ignore", label: "projects.settings.ignore", hint: "projects.add.ignore.hint" },
];

/** Why the server does not let a page change a setting. */
const CLOSED: Readonly<Record<Exclude<Setting["closed"], "">, Key>> = {
  path: "projects.settings.closed.path",
  server: "projects.settings.closed.server",
  masking: "projects.settings.closed.masking",
};

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

interface FieldProps {
  readonly label: Key;
  readonly hint: Key;
  readonly setting: Setting;
  readonly kept: Readonly<Record<string, unknown>>;
  readonly draft: Draft;
  readonly onChange: (value: Value | null) => void;
}

function Field({ label, hint, setting, kept, draft, onChange }: FieldProps) {
  const t = useText();
  const { value, origin } = shownOf(setting, kept, draft);
  const id = `setting-${setting.key}`;
  const hintId = `${id}-hint`;
  return (
    <Form.Item label={t(label)} htmlFor={id} className="field">
      <Control id={id} hintId={hintId} setting={setting} value={value} onChange={onChange} />
      <div id={hintId} className="field-hint soft">
        <span>
          {t(hint)
            .split("`")
            .map((part, place) => (place % 2 ? <code key={part}>{part}</code> : part))}
        </span>
        {setting.closed && <span>{t(CLOSED[setting.closed])}</span>}
        {setting.hosts.length > 0 && <span>{t("projects.settings.hosts", { hosts: setting.hosts.join(", ") })}</span>}
        <span className="field-origin">
          <code>{setting.key}</code> · {originText()}
        </span>
        {(origin === "here" || origin === "draft") && (
          <button
            type="button"
            className="as-link"
            aria-label={t("projects.settings.reset.of", { name: t(label) })}
            onClick={() => onChange(null)}
          >
            {t("projects.settings.reset")}
          </button>
        )}
      </div>
    </Form.Item>
  );

  function originText(): string {
    if (origin === "here" || origin === "draft") return t("projects.settings.here");
    return origin === "default" ? t("projects.settings.default") : t("projects.settings.from", { place: origin });
  }
}

interface ControlProps {
  readonly id: string;
  readonly hintId: string;
  readonly setting: Setting;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function Control({ id, hintId, setting, value, onChange }: ControlProps) {
  const t = useText();
  if (setting.closed) {
    const switched = t(value === "true" ? "projects.settings.on" : "projects.settings.off");
    const shown = setting.kind === "switch" ? switched : [value].flat().join(", ");
    return <Input id={id} aria-describedby={hintId} disabled value={shown} />;
  }
  if (typeof value !== "string") {
    return (
      <Select
        id={id}
        aria-describedby={hintId}
        mode="tags"
        open={false}
        suffixIcon={null}
        tokenSeparators={[",", " "]}
        value={[...value]}
        onChange={(next: string[]) => onChange(next)}
      />
    );
  }
  if (setting.choices.length > 0) {
    const options = setting.choices.map((choice) => ({ value: choice, label: choice }));
    return <Select id={id} aria-describedby={hintId} value={value} options={options} onChange={onChange} />;
  }
  return (
    <Input
      id={id}
      aria-describedby={hintId}
      className="mono"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
