import { Form, Input, Select } from "antd";
import { type Key, useText } from "../i18n";
import { type Draft, type Setting, shownOf, type Value } from "./chosen";

/** Why the server does not let a page change a setting. */
const CLOSED: Readonly<Record<Exclude<Setting["closed"], "">, Key>> = {
  path: "projects.settings.closed.path",
  server: "projects.settings.closed.server",
  masking: "projects.settings.closed.masking",
};

interface FieldProps {
  readonly label: Key;
  readonly hint: Key;
  readonly setting: Setting;
  readonly kept: Readonly<Record<string, unknown>>;
  readonly draft: Draft;
  readonly onChange: (value: Value | null) => void;
}

/** One setting: what it is called, where its value comes from, and the way to another one. */
export function Field({ label, hint, setting, kept, draft, onChange }: FieldProps) {
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
