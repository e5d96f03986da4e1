import { DeleteOutlined, DownloadOutlined, EditOutlined, MoreOutlined } from "@ant-design/icons";
import { App, Button, Dropdown, type MenuProps } from "antd";
import { asProblem, get, remove, type Schemas } from "../api/client";
import { useText } from "../i18n";
import { fileName } from "./grouped";
import { tellOthers } from "./others";
import { forget, useRunning } from "./running";

export type Conversation = Schemas["ConversationOut"];

export interface ConversationMenuProps {
  readonly conversation: Conversation;
  readonly onRename: () => void;
  readonly onDeleted: () => void;
}

/** What can be done with a conversation. */
export function ConversationMenu({ conversation, onRename, onDeleted }: ConversationMenuProps) {
  const t = useText();
  const { message } = App.useApp();
  const askToDelete = useDelete(conversation, onDeleted);
  const title = conversation.title || t("chat.untitled");
  const download = () => void exported(conversation).catch((error: unknown) => message.error(asProblem(error).detail));
  const items: MenuProps["items"] = [
    { key: "rename", icon: <EditOutlined />, label: t("chat.rename"), onClick: onRename },
    { key: "export", icon: <DownloadOutlined />, label: t("chat.export"), onClick: download },
    { key: "delete", icon: <DeleteOutlined />, label: t("chat.delete"), danger: true, onClick: askToDelete },
  ];
  return (
    <Dropdown menu={{ items }} trigger={["click"]} placement="bottomRight">
      <Button
        type="text"
        size="small"
        className="conversation-menu"
        icon={<MoreOutlined />}
        aria-label={t("chat.menu", { title })}
      />
    </Dropdown>
  );
}

/** Asks whether to delete a conversation; an answer that is being written in it is stopped before. */
function useDelete(conversation: Conversation, onDeleted: () => void): () => void {
  const t = useText();
  const { modal, message } = App.useApp();
  const all = useRunning();
  const { id, title } = conversation;
  const carryOut = async () => {
    const here = all.filter((running) => running.conversationId === id);
    try {
      await Promise.all(here.map((running) => running.stop()));
      await remove(`/conversations/${id}`);
      forget((running) => running.conversationId === id);
      tellOthers(id);
      onDeleted();
    } catch (error) {
      message.error(asProblem(error).detail);
    }
  };
  return () =>
    void modal.confirm({
      title: t("chat.delete.ask"),
      content: t("chat.delete.explain", { title: title || t("chat.untitled") }),
      okText: t("chat.delete"),
      okButtonProps: { danger: true },
      cancelText: t("chat.keep"),
      onOk: carryOut,
    });
}

/** Saves a conversation as a file of Markdown. */
async function exported({ id, title }: Conversation): Promise<void> {
  const text = await get<string>(`/conversations/${id}/export`);
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: fileName(title, "md") });
  link.click();
  URL.revokeObjectURL(url);
}
