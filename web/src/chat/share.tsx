import { ShareAltOutlined } from "@ant-design/icons";
import { Button, type ButtonProps } from "antd";
import { lazy, Suspense, useState } from "react";
import { useText } from "../i18n";
import type { Conversation } from "./conversation-menu";

const ShareChoice = lazy(() => import("./share-choice"));

export interface ShareProps {
  readonly conversation: Conversation;
  readonly onChanged: () => void;
}

/** The button that shares a conversation, and the link to it; what it opens is loaded by the first click. */
export function Share(props: ShareProps) {
  const [isWanted, setWanted] = useState(false);
  const { conversation } = props;
  const button = <ShareButton conversation={conversation} aria-expanded={false} onClick={() => setWanted(true)} />;
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ShareChoice {...props} />
    </Suspense>
  );
}

/** The button itself, which gives on what its popup sets. */
export function ShareButton({ conversation, className = "", ...others }: ButtonProps & { conversation: Conversation }) {
  const t = useText();
  const isShared = conversation.shared_by !== null;
  return (
    <Button
      {...others}
      type={isShared ? "primary" : "default"}
      ghost={isShared}
      size="small"
      className={`chat-share ${className}`}
      icon={<ShareAltOutlined />}
      aria-label={t(isShared ? "chat.share.on" : "chat.share")}
    >
      <span className="chat-share-word">{t(isShared ? "chat.share.on" : "chat.share")}</span>
    </Button>
  );
}
