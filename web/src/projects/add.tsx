import { Checkbox, Form, Input, type InputRef, Modal, Select } from "antd";
import { useRef } from "react";
import { useText } from "../i18n";
import { useAdding } from "./adding";
import { Plan, PlanOfAddress } from "./plan";
import { nameOf } from "./repository";
import { Told } from "./told";

interface AddProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

/** Adds a folder as a project; says what a path would be while it is typed. */
export default function Add({ isOpen, onClose, onAdded }: AddProps) {
  const t = useText();
  const { typed, type, clear, address, place, planned, canAdd, add } = useAdding({ onClose, onAdded });
  const field = useRef<InputRef>(null);
  return (
    <Modal
      open={isOpen}
      title={t("projects.add.title")}
      okText={t("projects.add.do")}
      cancelText={t("projects.add.cancel")}
      okButtonProps={{ disabled: !canAdd }}
      closable={{ "aria-label": t("projects.close") }}
      afterOpenChange={(open) => (open ? field.current?.focus() : clear())}
      onOk={add}
      onCancel={onClose}
    >
      <Form layout="vertical" className="add">
        <Form.Item label={t("projects.add.path")} htmlFor="add-path">
          <Input
            id="add-path"
            ref={field}
            className="mono"
            placeholder="~/code/shop"
            autoComplete="off"
            spellCheck={false}
            aria-describedby="add-told"
            list="add-folders"
            value={typed.path}
            onChange={(event) => type({ path: event.target.value })}
            onPressEnter={add}
          />
          <datalist id="add-folders">
            {place.folders.map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
          <Told typed={typed.path} address={address} place={place.value} isLooking={place.loading} />
        </Form.Item>
        <Form.Item label={t("projects.add.revision")} htmlFor="add-revision">
          <Input
            id="add-revision"
            className="mono"
            placeholder={t(address ? "projects.add.revision.of-url" : "projects.add.revision.of-path")}
            value={typed.revision}
            onChange={(event) => type({ revision: event.target.value })}
          />
        </Form.Item>
        <Form.Item label={t("projects.add.name")} htmlFor="add-name">
          <Input
            id="add-name"
            placeholder={address ? nameOf(address) : place.value?.name}
            value={typed.name}
            onChange={(event) => type({ name: event.target.value })}
            onPressEnter={add}
          />
        </Form.Item>
        <details>
          <summary>{t("projects.add.options")}</summary>
          <Patterns name="extensions" value={typed.extensions} onChange={(extensions) => type({ extensions })} />
          <Patterns name="ignore" value={typed.ignore} onChange={(ignore) => type({ ignore })} />
        </details>
        {planned && <Plan asked={planned} isUpdate={place.value?.has_index ?? false} />}
        {address && <PlanOfAddress key={address} url={address} revision={typed.revision.trim()} />}
        {!address && (
          <Checkbox checked={typed.isIndexed} onChange={(event) => type({ isIndexed: event.target.checked })}>
            {t("projects.add.index")}
          </Checkbox>
        )}
      </Form>
    </Modal>
  );
}

interface PatternsProps {
  readonly name: "extensions" | "ignore";
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
}

function Patterns({ name, value, onChange }: PatternsProps) {
  const t = useText();
  const id = `add-${name}`;
  return (
    <Form.Item label={t(`projects.add.${name}`)} htmlFor={id} extra={t(`projects.add.${name}.hint`)}>
      <Select
        id={id}
        mode="tags"
        open={false}
        suffixIcon={null}
        tokenSeparators={[",", " "]}
        value={value}
        onChange={onChange}
      />
    </Form.Item>
  );
}
