import { ShareAltOutlined } from "@ant-design/icons";
import { App, Button, Popover, Switch } from "antd";
import { useId, useState } from "react";
import { asProblem, patch } from "../api/client";
import { useText } from "../i18n";
import { ROOT_PATH } from "../root-path";
import type { Conversation } from "./conversation-menu";
import { CopyButton } from "./copy-button";
import { tellOthers } from "./others";

export interface ShareProps {
  readonly conversation: Conversation;
  readonly onChanged: () => void;
}

/** The button that shares a conversation, and the link to it. */
export function Share({ conversation, onChanged }: ShareProps) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const isShared = conversation.shared_by !== null;
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      open={isOpen}
      onOpenChange={setOpen}
      content={<Choice conversation={conversation} onChanged={onChanged} />}
    >
      <Button
        type={isShared ? "primary" : "default"}
        ghost={isShared}
        size="small"
        className="chat-share"
        icon={<ShareAltOutlined />}
        aria-expanded={isOpen}
        aria-label={t(isShared ? "chat.share.on" : "chat.share")}
      >
        <span className="chat-share-word">{t(isShared ? "chat.share.on" : "chat.share")}</span>
      </Button>
    </Popover>
  );
}

function Choice({ conversation, onChanged }: ShareProps) {
  const t = useText();
  const id = useId();
  const { message } = App.useApp();
  const [isBusy, setBusy] = useState(false);
  const isShared = conversation.shared_by !== null;
  const link = `${window.location.origin}${ROOT_PATH}/chat/${conversation.id}`;
  const change = async (shared: boolean) => {
    setBusy(true);
    try {
      await patch(`/conversations/${conversation.id}`, { shared });
      tellOthers(conversation.id);
      onChanged();
    } catch (error) {
      message.error(asProblem(error).detail);
    }
    setBusy(false);
  };
  return (
    <div className="share">
      <div className="share-switch">
        <Switch
          size="small"
          checked={isShared}
          loading={isBusy}
          aria-labelledby={id}
          onChange={(shared) => void change(shared)}
        />
        <span id={id}>{t("chat.share.switch")}</span>
      </div>
      <p>{t("chat.share.explain")}</p>
      {isShared && (
        <div className="share-link">
          <code>{link}</code>
          <CopyButton text={link} label={t("chat.share.copy")} />
        </div>
      )}
    </div>
  );
}
