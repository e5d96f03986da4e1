import { App, Popover, Switch } from "antd";
import { useId, useState } from "react";
import { asProblem, patch } from "../api/client";
import { useText } from "../i18n";
import { ROOT_PATH } from "../root-path";
import { CopyButton } from "./copy-button";
import { tellOthers } from "./others";
import { ShareButton, type ShareProps } from "./share";

/** The popup of the button: it is open when it comes, because it was asked for. */
export default function ShareChoice(props: ShareProps) {
  const [isOpen, setOpen] = useState(true);
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      open={isOpen}
      onOpenChange={setOpen}
      content={<Choice {...props} />}
    >
      <ShareButton conversation={props.conversation} aria-expanded={isOpen} autoFocus />
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
