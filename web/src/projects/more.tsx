import { MoreOutlined } from "@ant-design/icons";
import { App, Button, Dropdown } from "antd";
import { remove } from "../api/client";
import { useText } from "../i18n";
import { type Role, useIsKept, useMay } from "../session";
import { useFailure } from "./failure";
import type { Project } from "./listed";
import type { Tab } from "./tabs";

interface MoreProps {
  readonly project: Project;
  readonly isBusy: boolean;
  readonly onFull: () => void;
  readonly onChange: () => void;
  readonly onDetails: (tab: Tab) => void;
}

/** What is done less often, behind a button. */
export default function More({ project, isBusy, onFull, onChange, onDetails }: MoreProps) {
  const t = useText();
  const fail = useFailure();
  const { modal, message } = App.useApp();
  const ask = () =>
    modal.confirm({
      title: t("projects.remove.title", { name: project.name }),
      content: t(project.url ? "projects.remove.copy" : "projects.remove.hint"),
      okText: t("projects.remove.yes"),
      okButtonProps: { danger: true },
      cancelText: t("projects.remove.no"),
      autoFocusButton: "cancel",
      onOk: () =>
        remove(`/projects/${encodeURIComponent(project.id)}`).then(() => {
          void message.success(t("projects.removed", { name: project.name }));
          onChange();
        }, fail),
    });
  const items = useOffered(project.id, [
    { key: "full", label: t("projects.full"), disabled: isBusy, onClick: onFull },
    { type: "divider" as const },
    { key: "left-out", label: t("projects.left-out"), onClick: () => onDetails("left-out") },
    { key: "settings", label: t("projects.settings"), onClick: () => onDetails("settings") },
    { key: "store", label: t("projects.store"), onClick: () => onDetails("store") },
    { key: "history", label: t("projects.history"), onClick: () => onDetails("history") },
    { type: "divider" as const },
    { key: "remove", label: t("projects.remove"), danger: true, onClick: ask },
  ]);
  return (
    <Dropdown menu={{ items }} trigger={["click"]} placement="bottomRight">
      <Button type="text" icon={<MoreOutlined />} aria-label={t("projects.more", { name: project.name })} />
    </Dropdown>
  );
}

/** The role that an item of the menu needs; the store needs an administrator of the server. */
const NEEDED: Readonly<Record<string, Role>> = { full: "indexer", settings: "maintainer", remove: "admin" };

/** Returns the items of a menu that the caller may use, without a line at their beginning and end. */
function useOffered<Item extends { readonly key?: string }>(projectId: string, items: readonly Item[]): Item[] {
  const may = useMay(projectId);
  const isKept = useIsKept();
  const isOffered = (key = "") => may(NEEDED[key] ?? "reader") && !(isKept && key === "store");
  const allowed = items.filter((item) => isOffered(item.key));
  const offered = allowed.slice(allowed.findIndex((item) => item.key !== undefined));
  return offered.filter((item, place) => item.key !== undefined || place < offered.length - 1);
}
