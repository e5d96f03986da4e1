import { PlusOutlined, ShareAltOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { lazy, Suspense, useMemo, useState } from "react";
import { NavLink } from "react-router";
import type { Load } from "../api/client";
import { useText } from "../i18n";
import { type Conversation, ConversationMenu } from "./conversation-menu";
import { grouped } from "./grouped";

const TitleInput = lazy(() => import("./title-input"));
const Whose = lazy(() => import("./whose"));

export interface ConversationListProps {
  readonly conversations: Load<readonly Conversation[]>;
  /** What others share. */
  readonly shared: readonly Conversation[];
  readonly onNew: () => void;
  readonly onOpened: () => void;
  readonly onDeleted: (id: string) => void;
}

/** What was asked before, the latest first. */
export function ConversationList({ conversations, shared, onNew, onOpened, onDeleted }: ConversationListProps) {
  const t = useText();
  const { value, problem, reload } = conversations;
  const [isShared, setShared] = useState(false);
  const isOfOthers = isShared && shared.length > 0;
  const groups = useMemo(() => grouped(isOfOthers ? shared : (value ?? [])), [value, shared, isOfOthers]);
  return (
    <nav className="conversations" aria-label={t("chat.conversations")}>
      <Button className="conversations-new" icon={<PlusOutlined />} onClick={onNew} block>
        {t("chat.new")}
      </Button>
      {shared.length > 0 && (
        <div className="conversations-whose">
          <Suspense fallback={null}>
            <Whose isOfOthers={isOfOthers} onChoose={setShared} />
          </Suspense>
        </div>
      )}
      {problem && !value && <p className="conversations-none">{problem.detail}</p>}
      {value?.length === 0 && !isOfOthers && <p className="conversations-none">{t("chat.conversations.none")}</p>}
      {groups.map((group) => (
        <section key={group.when}>
          <h2>{t(`chat.${group.when}`)}</h2>
          <ul>
            {group.items.map((conversation) => (
              <Item
                key={conversation.id}
                conversation={conversation}
                onOpened={onOpened}
                onChanged={reload}
                onDeleted={() => onDeleted(conversation.id)}
              />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

interface ItemProps {
  readonly conversation: Conversation;
  readonly onOpened: () => void;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}

function Item({ conversation, onOpened, onChanged, onDeleted }: ItemProps) {
  const t = useText();
  const [isRenaming, setRenaming] = useState(false);
  const title = conversation.title || t("chat.untitled");
  if (isRenaming) {
    const onEnd = (isChanged: boolean) => {
      setRenaming(false);
      if (isChanged) onChanged();
    };
    return (
      <li>
        <Suspense fallback={title}>
          <TitleInput conversation={conversation} onEnd={onEnd} />
        </Suspense>
      </li>
    );
  }
  return (
    <li>
      <NavLink to={`/chat/${conversation.id}`} title={title} onClick={onOpened}>
        {conversation.answering.length > 0 && (
          <span className="conversation-dot">
            <span className="visually-hidden">{t("chat.writing-now")}</span>
          </span>
        )}
        <span className="conversation-title">{title}</span>
        {!conversation.is_own && <span className="conversation-owner">{conversation.shared_by}</span>}
        {conversation.is_own && conversation.shared_by !== null && (
          <ShareAltOutlined className="conversation-shared" aria-label={t("chat.share.on")} />
        )}
      </NavLink>
      <ConversationMenu conversation={conversation} onRename={() => setRenaming(true)} onDeleted={onDeleted} />
    </li>
  );
}
