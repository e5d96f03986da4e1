import { MoreOutlined } from "@ant-design/icons";
import { Button, type ButtonProps } from "antd";
import { lazy, Suspense, useState } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";

const ConversationActions = lazy(() => import("./conversation-actions"));

export type Conversation = Schemas["ConversationOut"];

export interface ConversationMenuProps {
  readonly conversation: Conversation;
  /** None for readers, who can only export it. */
  readonly onRename?: () => void;
  readonly onDeleted?: () => void;
}

/** What can be done with a conversation; loaded by the first click. */
export function ConversationMenu(props: ConversationMenuProps) {
  const [isWanted, setWanted] = useState(false);
  const button = <MenuButton conversation={props.conversation} onClick={() => setWanted(true)} />;
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ConversationActions {...props} />
    </Suspense>
  );
}

/** The button of the menu, which gives on what the menu itself sets. */
export function MenuButton({ conversation, className = "", ...others }: ButtonProps & { conversation: Conversation }) {
  const t = useText();
  return (
    <Button
      {...others}
      type="text"
      size="small"
      className={`conversation-menu ${className}`}
      icon={<MoreOutlined />}
      aria-haspopup="menu"
      aria-label={t("chat.menu", { title: conversation.title || t("chat.untitled") })}
    />
  );
}
