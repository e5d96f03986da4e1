import { Button, Input, InputNumber, Modal, Select, Typography } from "antd";
import { type FormEvent, useId, useState } from "react";
import { post, type Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFailure } from "../projects/failure";

type Role = Schemas["TokenIn"]["role"];
type Made = Schemas["MadeTokenOut"];

const ROLES = ["reader", "indexer", "maintainer", "admin"] as const;
const USUAL_DAYS = 90;
const MOST_DAYS = 3_650;

/** The form that makes a token, and the secret, which is shown once. */
export default function MakeToken({ onMade }: { readonly onMade: () => void }) {
  const t = useText();
  const id = useId();
  const fail = useFailure();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("reader");
  const [projects, setProjects] = useState("");
  const [days, setDays] = useState(USUAL_DAYS);
  const [made, setMade] = useState<Made>();
  const make = (event: FormEvent) => {
    event.preventDefault();
    const ids = projects.split(/[\s,，、]+/).filter(Boolean);
    post<Made>("/tokens", { name: name.trim(), role, projects: ids, days }).then((answer) => {
      setMade(answer);
      setName("");
      onMade();
    }, fail);
  };
  return (
    <>
      <form className="people-form" onSubmit={make} aria-label={t("people.token.make")}>
        <div>
          <label htmlFor={`${id}-name`}>{t("people.token.name")}</label>
          <Input id={`${id}-name`} value={name} maxLength={80} onChange={(event) => setName(event.target.value)} />
        </div>
        <div>
          <label htmlFor={`${id}-role`}>{t("people.token.role")}</label>
          <Select<Role>
            id={`${id}-role`}
            style={{ width: "100%" }}
            value={role}
            onChange={setRole}
            options={ROLES.map((value) => ({ value, label: t(`people.role.${value}`) }))}
          />
          <div className="soft">{t(`people.role.${role ?? "reader"}.hint`)}</div>
        </div>
        <div>
          <label htmlFor={`${id}-projects`}>{t("people.token.projects")}</label>
          <Input id={`${id}-projects`} value={projects} onChange={(event) => setProjects(event.target.value)} />
          <div className="soft">{t("people.token.projects.hint")}</div>
        </div>
        <div>
          <label htmlFor={`${id}-days`}>{t("people.token.days")}</label>
          <InputNumber
            id={`${id}-days`}
            style={{ width: "100%" }}
            min={0}
            max={MOST_DAYS}
            precision={0}
            value={days}
            onChange={(value) => setDays(value ?? USUAL_DAYS)}
          />
          <div className="soft">{t("people.token.days.hint")}</div>
        </div>
        <Button type="primary" htmlType="submit" disabled={!name.trim()}>
          {t("people.token.make")}
        </Button>
      </form>
      <Modal
        open={made !== undefined}
        title={made && t("people.token.secret", { name: made.token.name })}
        onCancel={() => setMade(undefined)}
        footer={
          <Button type="primary" onClick={() => setMade(undefined)}>
            {t("people.token.secret.done")}
          </Button>
        }
        destroyOnHidden
      >
        <p>{t("people.token.secret.hint")}</p>
        <Typography.Text code copyable>
          {made?.secret}
        </Typography.Text>
      </Modal>
    </>
  );
}
