import { useEffect, useMemo, useRef, useState } from "react";
import { get, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { loadAnswerParts } from "./answer-parts";
import { type Asking, askingOf, keepAsking, lastAsking, possible } from "./asking";
import { Composer } from "./composer";
import type { Conversation } from "./conversation-menu";
import { NoModel, NoModelHint } from "./no-model";
import { useOthers } from "./others";
import { type Project, useModels } from "./projects";
import { ReaderFoot } from "./reader-foot";
import { ask, attach, forget, type Question, type Running, useRunning } from "./running";
import { Thread } from "./thread";
import { Welcome } from "./welcome";

export interface ConversationPaneProps {
  /** None for one that is not begun yet. */
  readonly conversationId: string;
  readonly projects: readonly Project[];
  readonly onBegun: (conversationId: string) => void;
}

/** One conversation: what was said, what is being answered, and the next question. */
export function ConversationPane({ conversationId, projects, onBegun }: ConversationPaneProps) {
  const loaded = useConversation(conversationId);
  const all = useRunning();
  const running = useMemo(() => {
    const kept = keptIn(loaded.value);
    return all.filter((one) => one.conversationId === conversationId && !kept.has(one.exchange().answer.id));
  }, [all, conversationId, loaded.value]);
  const [asked, setAsked] = useState<Running>();
  const begunId = asked && all.includes(asked) && !conversationId ? asked.conversationId : "";
  useEffect(() => {
    if (begunId) onBegun(begunId);
  }, [begunId]);
  if (loaded.problem && !loaded.value && !running.length) {
    return <Trouble problem={loaded.problem} onRetry={loaded.reload} />;
  }
  if (conversationId && !loaded.value && !running.length) return <Loading />;
  if (loaded.value && !loaded.value.is_own) {
    return (
      <Thread conversation={loaded.value} running={[]} foot={<ReaderFoot owner={loaded.value.shared_by ?? ""} />}>
        <Untold />
      </Thread>
    );
  }
  return (
    <Loaded
      conversation={loaded.value}
      conversationId={conversationId}
      projects={projects}
      running={running}
      onAsk={(question) => setAsked(ask(question))}
    />
  );
}

/** A conversation in which nothing was asked yet. */
function Untold() {
  return <p className="conversations-none">{useText()("chat.reader.empty")}</p>;
}

function keptIn(conversation: Conversation | undefined): ReadonlySet<unknown> {
  return new Set(conversation?.turns.map((turn) => turn.details.answer_id));
}

/** Loads a conversation, goes on reading what is being answered in it, and forgets what it has kept meanwhile. */
function useConversation(conversationId: string) {
  const loaded = useLoad(
    async (signal) => {
      if (!conversationId) return undefined;
      const parts = loadAnswerParts();
      const conversation = await get<Conversation>(`/conversations/${conversationId}`, undefined, signal);
      await parts;
      return conversation;
    },
    [conversationId],
  );
  useOthers(loaded.reload);
  const { value } = loaded;
  useEffect(() => {
    if (!value) return;
    for (const answering of value.answering) attach(value.id, answering);
    const kept = keptIn(value);
    forget((running) => running.isOver && kept.has(running.exchange().answer.id));
  }, [value]);
  return loaded;
}

interface LoadedProps extends Omit<ConversationPaneProps, "onBegun"> {
  readonly conversation: Conversation | undefined;
  readonly running: readonly Running[];
  readonly onAsk: (question: Question) => void;
}

function Loaded({ conversation, conversationId, projects, running, onAsk }: LoadedProps) {
  const [text, setText] = useDraft(conversationId);
  const composer = useRef<HTMLTextAreaElement>(null);
  const [chosen, setChosen] = useState<Asking>(() => askingOf(lastAsking(), conversation?.projects, projects));
  const first = projects.find((project) => project.id === chosen.projectIds[0]) ?? projects[0];
  const models = useModels(first?.id ?? "");
  const asking = possible(chosen, projects, models.agent);
  const choose = (next: Asking) => {
    keepAsking(next);
    setChosen(next);
  };
  const send = (question: string) => {
    setText("");
    onAsk({
      text: question,
      projectIds: asking.projectIds,
      conversationId,
      isAgent: asking.isAgent,
      isThorough: Boolean(asking.isThorough),
    });
  };
  const again = (question: Question) => {
    // A question that the server has refused is in no conversation.
    forget((one) => one.isOver && !one.exchange().answer.id);
    onAsk(question);
  };
  const take = (example: string) => {
    setText(example);
    composer.current?.focus();
  };
  const isEmpty = !conversation?.turns.length && !running.length;
  return (
    <Thread
      conversation={conversation}
      running={running}
      onAgain={again}
      onEdit={take}
      foot={
        <>
          {!models.answer && !isEmpty && <NoModelHint project={first} />}
          <Composer
            field={composer}
            text={text}
            onText={setText}
            asking={asking}
            onAsking={choose}
            conversationId={conversationId}
            projects={projects}
            hasModel={models.agent}
            running={running.findLast((one) => !one.isOver)}
            onSend={send}
          />
        </>
      }
    >
      <Welcome onExample={take}>{!models.answer && <NoModel project={first} />}</Welcome>
    </Thread>
  );
}

// What is written but not sent yet, by conversation: it is there again when one comes back to it.
const drafts = new Map<string, string>();

function useDraft(conversationId: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => drafts.get(conversationId) ?? "");
  const keep = (next: string) => {
    drafts.set(conversationId, next);
    setText(next);
  };
  return [text, keep];
}
