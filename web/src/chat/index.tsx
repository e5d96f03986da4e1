import { FolderAddOutlined, MenuOutlined, PlusOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { lazy, Suspense, useEffect, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { get, type Load, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Message, Trouble } from "../parts";
import { useTitle } from "../title";
import { withMessages } from "../with-messages";
import { ConversationList } from "./conversation-list";
import { type Conversation, ConversationMenu } from "./conversation-menu";
import { ConversationPane } from "./conversation-pane";
import { useOthers } from "./others";
import { useProjects } from "./projects";
import { forget, useRunning } from "./running";
import { Share } from "./share";
import "./chat.css";

const NarrowList = lazy(() => import("./narrow-list"));
const TitleInput = lazy(() => import("./title-input"));

/** Questions about the code, and what was answered. */
function ChatPage() {
  const { conversationId = "" } = useParams();
  const navigate = useNavigate();
  const projects = useProjects();
  const conversations = useConversations();
  const shared = useShared();
  // It is loaded when it is opened first, and stays for how it closes.
  const [isListOpen, setListOpen] = useState<boolean>();
  const closeList = () => setListOpen((before) => before && false);
  const begin = () => {
    closeList();
    // Answers that never came to a conversation are not shown in a new one.
    forget((running) => !running.conversationId && running.isOver);
    void navigate("/chat");
  };
  const onDeleted = (id: string) => {
    conversations.reload();
    if (id === conversationId) begin();
  };
  const list = (
    <ConversationList
      conversations={conversations}
      shared={shared}
      onNew={begin}
      onOpened={closeList}
      onDeleted={onDeleted}
    />
  );
  if (projects.problem && !projects.value) return <Trouble problem={projects.problem} onRetry={projects.reload} />;
  if (!projects.value) return <Loading />;
  return (
    <div className="chat">
      <aside className="chat-side">{list}</aside>
      {isListOpen !== undefined && (
        <Suspense fallback={null}>
          <NarrowList isOpen={isListOpen} onClose={closeList}>
            {list}
          </NarrowList>
        </Suspense>
      )}
      <div className="chat-main">
        <Head
          conversation={[...(conversations.value ?? []), ...shared].find((one) => one.id === conversationId)}
          onList={() => setListOpen(true)}
          onNew={begin}
          onChanged={conversations.reload}
          onDeleted={() => onDeleted(conversationId)}
        />
        {projects.value.length || conversationId ? (
          <ConversationPane
            key={conversationId}
            conversationId={conversationId}
            projects={projects.value}
            onBegun={(id) => void navigate(`/chat/${id}`, { replace: true })}
          />
        ) : (
          <NoProject />
        )}
      </div>
    </div>
  );
}

/** The conversations, loaded again whenever an answer begins or ends, here or in another tab. */
function useConversations(): Load<readonly Conversation[]> {
  const running = useRunning();
  const loaded = useLoad(
    async (signal) => {
      const found = await get<Schemas["ConversationsOut"]>("/conversations", { limit: 200 }, signal);
      return found.conversations;
    },
    [running],
  );
  useOthers(loaded.reload);
  return loaded;
}

/** The conversations that others share. */
function useShared(): readonly Conversation[] {
  const { value, reload } = useLoad(async (signal) => {
    const query = { shared: true, limit: 200 };
    const found = await get<Schemas["ConversationsOut"]>("/conversations", query, signal);
    return found.conversations.filter((one) => !one.is_own);
  }, []);
  useOthers(reload);
  return value ?? NONE;
}

const NONE: readonly Conversation[] = [];

interface HeadProps {
  readonly conversation: Conversation | undefined;
  readonly onList: () => void;
  readonly onNew: () => void;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}

function Head({ conversation, onList, onNew, onChanged, onDeleted }: HeadProps) {
  const t = useText();
  const [isRenaming, setRenaming] = useState(false);
  useTitle(conversation?.title ?? "", t("chat.title"));
  const id = conversation?.id;
  useEffect(() => setRenaming(false), [id]);
  const onEnd = (isChanged: boolean) => {
    setRenaming(false);
    if (isChanged) onChanged();
  };
  return (
    <header className="chat-head">
      <Button
        className="chat-head-narrow"
        type="text"
        icon={<MenuOutlined />}
        aria-label={t("chat.conversations.show")}
        onClick={onList}
      />
      {conversation && isRenaming ? (
        <Suspense fallback={null}>
          <TitleInput conversation={conversation} onEnd={onEnd} />
        </Suspense>
      ) : (
        <h1 className="chat-head-title">{conversation ? conversation.title || t("chat.untitled") : t("chat.title")}</h1>
      )}
      {conversation?.is_own && <Share conversation={conversation} onChanged={onChanged} />}
      {conversation && (
        <ConversationMenu conversation={conversation} onRename={() => setRenaming(true)} onDeleted={onDeleted} />
      )}
      <Button
        className="chat-head-narrow"
        type="text"
        icon={<PlusOutlined />}
        aria-label={t("chat.new")}
        onClick={onNew}
      />
    </header>
  );
}

function NoProject() {
  const t = useText();
  return (
    <Message icon={<FolderAddOutlined />} title={t("chat.no-project")} detail={t("chat.no-project.explain")}>
      <Link to="/projects">
        <Button type="primary">{t("chat.no-project.do")}</Button>
      </Link>
    </Message>
  );
}

export default withMessages(ChatPage);
