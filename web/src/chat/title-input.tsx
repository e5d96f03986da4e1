import { App, Input, type InputRef } from "antd";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { asProblem, patch } from "../api/client";
import { useText } from "../i18n";
import type { Conversation } from "./conversation-menu";
import { tellOthers } from "./others";

export interface TitleInputProps {
  readonly conversation: Conversation;
  readonly onEnd: (isChanged: boolean) => void;
}

/** The title of a conversation, to be changed: Enter or leaving keeps it, Escape does not. */
export default function TitleInput({ conversation, onEnd }: TitleInputProps) {
  const t = useText();
  const { message } = App.useApp();
  const [title, setTitle] = useState(conversation.title);
  const input = useRef<InputRef>(null);
  const isEnded = useRef(false);
  useEffect(() => {
    // The menu that was just closed gives the focus back to its button.
    const timer = setTimeout(() => input.current?.focus({ cursor: "all" }), 60);
    return () => clearTimeout(timer);
  }, []);
  const end = async (isKept: boolean) => {
    if (isEnded.current) return;
    isEnded.current = true;
    const next = title.trim();
    if (!isKept || !next || next === conversation.title) {
      onEnd(false);
      return;
    }
    try {
      await patch(`/conversations/${conversation.id}`, { title: next });
      tellOthers(conversation.id);
      onEnd(true);
    } catch (error) {
      message.error(asProblem(error).detail);
      onEnd(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") void end(true);
    else if (event.key === "Escape") void end(false);
    else return;
    event.stopPropagation();
  };
  return (
    <Input
      ref={input}
      size="small"
      value={title}
      maxLength={120}
      aria-label={t("chat.rename.label")}
      onChange={(event) => setTitle(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => input.current?.input && void end(true)}
    />
  );
}
