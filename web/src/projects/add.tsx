import { CheckCircleFilled, InfoCircleFilled, WarningFilled } from "@ant-design/icons";
import { Checkbox, Form, Input, type InputRef, Modal, Select } from "antd";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { post, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { useFailure } from "./failure";
import { addressIn, nameOf } from "./repository";
import type { Job } from "./progress";

type Place = Schemas["PathOut"];

const PAUSE_MS = 220;

interface Typed {
  readonly path: string;
  readonly revision: string;
  readonly name: string;
  readonly extensions: string[];
  readonly ignore: string[];
  readonly isIndexed: boolean;
}

const NOTHING: Typed = { path: "", revision: "", name: "", extensions: [], ignore: [], isIndexed: true };

interface AddProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

/** What is typed, and what comes of it. */
function useAdding({ onClose, onAdded }: Omit<AddProps, "isOpen">) {
  const fail = useFailure();
  const [typed, setTyped] = useState(NOTHING);
  const [isAdding, setAdding] = useState(false);
  const place = usePlaceOf(typed.path, typed.revision);
  const address = addressIn(typed.path);
  const isFolder = place.value?.ok === true && !place.value.project_id && !place.loading;
  const canAdd = (address !== "" || isFolder) && !isAdding;
  const add = async () => {
    if (!canAdd) return;
    setAdding(true);
    try {
      const where = address ? { url: address } : { path: typed.path.trim() };
      const body = { ...where, revision: typed.revision.trim(), name: typed.name.trim(), settings: settingsOf(typed) };
      const project = await post<Schemas["ProjectOut"]>("/projects", body);
      // A repository is indexed in any case: that is what fetches it.
      if (typed.isIndexed && !address) await post<Job>(`/projects/${encodeURIComponent(project.id)}/index`, {});
      onClose();
      onAdded();
    } catch (error) {
      fail(error);
    } finally {
      setAdding(false);
    }
  };
  const type = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }));
  return { typed, type, clear: () => setTyped(NOTHING), address, place, canAdd, add: () => void add() };
}

function settingsOf({ extensions, ignore }: Typed): Record<string, string[]> {
  return {
    ...(extensions.length > 0 && { "source.required_exts": extensions }),
    ...(ignore.length > 0 && { "source.ignore": ignore }),
  };
}

/** Adds a folder as a project; says what a path would be while it is typed. */
export default function Add({ isOpen, onClose, onAdded }: AddProps) {
  const t = useText();
  const { typed, type, clear, address, place, canAdd, add } = useAdding({ onClose, onAdded });
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

interface Looked {
  readonly value: Place | undefined;
  /** Folders of the server that go on as the path does, or did before the last letters. */
  readonly folders: readonly string[];
  readonly loading: boolean;
}

/** What the server says of a path and a revision, when nothing has been typed for a moment. */
function usePlaceOf(path: string, revision: string): Looked {
  const [settled, setSettled] = useState("");
  const folder = addressIn(path) ? "" : path.trim();
  const wanted = folder && JSON.stringify({ path: folder, revision: revision.trim() });
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), wanted ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [wanted]);
  const looked = useLoad(
    async (signal) =>
      settled
        ? { of: settled, place: await post<Place>("/projects/validate-path", JSON.parse(settled) as object, signal) }
        : null,
    [settled],
  );
  const isCurrent = looked.value?.of === wanted;
  const problem: Place | undefined = looked.problem && {
    ok: false,
    root: "",
    name: "",
    has_index: false,
    project_id: "",
    problem: looked.problem.detail,
    hint: looked.problem.hint,
    folders: [],
  };
  return {
    folders: looked.value?.place.folders ?? [],
    value: problem ?? (wanted && isCurrent ? looked.value?.place : undefined),
    loading: Boolean(wanted) && !isCurrent && !problem,
  };
}

interface ToldProps {
  readonly typed: string;
  readonly address: string;
  readonly place: Place | undefined;
  readonly isLooking: boolean;
}

function Told({ typed, address, place, isLooking }: ToldProps) {
  const t = useText();
  return (
    <div id="add-told" className="told" role="status">
      {told()}
    </div>
  );

  function told(): ReactNode {
    if (address) return line("is-info", <InfoCircleFilled />, t("projects.add.url"));
    if (isLooking) return <span className="soft">{t("projects.add.looking")}</span>;
    if (!place) return <span className="soft">{t("projects.add.path.hint")}</span>;
    if (!place.ok) return line("is-bad", <WarningFilled />, place.problem, place.hint);
    if (place.project_id) {
      return line("is-info", <InfoCircleFilled />, t("projects.add.known", { name: place.project_id }));
    }
    const isAround = place.root !== typed.trim().replace(/\/+$/, "") && !typed.trim().startsWith("~");
    const more = [
      isAround && t("projects.add.around", { root: place.root }),
      place.has_index && t("projects.add.has-index"),
    ];
    return line(
      "is-ok",
      <CheckCircleFilled />,
      t("projects.add.will-be", { name: place.name }),
      more.filter(Boolean).join(" "),
    );
  }

  function line(kind: string, icon: ReactNode, text: string, more?: ReactNode) {
    return (
      <div className={kind}>
        <span aria-hidden>{icon}</span>
        <div>
          {text}
          {more && <div className="soft">{more}</div>}
        </div>
      </div>
    );
  }
}
