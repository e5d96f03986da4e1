import { DeleteOutlined, DownloadOutlined, EditOutlined, Html5Outlined } from "@ant-design/icons";
import { App, Dropdown, type MenuProps } from "antd";
import { useState } from "react";
import { asProblem, get, remove } from "../api/client";
import { useText } from "../i18n";
import { type Conversation, type ConversationMenuProps, MenuButton } from "./conversation-menu";
import { fileName } from "./grouped";
import { tellOthers } from "./others";
import { forget, useRunning } from "./running";

/** The menu itself: it is open when it comes, because it was asked for. */
export default function ConversationActions({ conversation, onRename, onDeleted }: ConversationMenuProps) {
  const t = useText();
  const { message } = App.useApp();
  const [isOpen, setOpen] = useState(true);
  const askToDelete = useDelete(conversation, onDeleted);
  const isOwn = conversation.is_own;
  const download = (form: Form) => () =>
    void exported(conversation, form).catch((error: unknown) => message.error(asProblem(error).detail));
  const items: MenuProps["items"] = [
    ...(isOwn ? [{ key: "rename", icon: <EditOutlined />, label: t("chat.rename"), onClick: onRename }] : []),
    { key: "export", icon: <DownloadOutlined />, label: t("chat.export"), onClick: download("markdown") },
    { key: "html", icon: <Html5Outlined />, label: t("chat.export.html"), onClick: download("html") },
    ...(isOwn
      ? [{ key: "delete", icon: <DeleteOutlined />, label: t("chat.delete"), danger: true, onClick: askToDelete }]
      : []),
  ];
  return (
    <Dropdown menu={{ items }} trigger={["click"]} placement="bottomRight" open={isOpen} onOpenChange={setOpen}>
      <MenuButton conversation={conversation} autoFocus />
    </Dropdown>
  );
}

/** Asks whether to delete a conversation; an answer that is being written in it is stopped before. */
function useDelete(conversation: Conversation, onDeleted?: () => void): () => void {
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
      onDeleted?.();
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

type Form = "markdown" | "html";

/** Saves a conversation as a file of Markdown or HTML. */
async function exported({ id, title }: Conversation, form: Form): Promise<void> {
  const text = await get<string>(`/conversations/${id}/export`, { format: form });
  const url = URL.createObjectURL(new Blob([text], { type: `text/${form};charset=utf-8` }));
  const name = fileName(title, form === "html" ? "html" : "md");
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
