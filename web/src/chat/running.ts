import { useSyncExternalStore } from "react";
import { asProblem, isAbort, post, type Schemas } from "../api/client";
import { readEvents, type Reading } from "../api/events";
import { after, type Answer, isOver, NOTHING } from "./answer";
import { tellOthers } from "./others";

/** What is asked of which projects; none means all that are indexed. */
export interface Question {
  readonly text: string;
  readonly projectIds: readonly string[];
  readonly conversationId: string;
  readonly isAgent: boolean;
  readonly isThorough?: boolean;
}

export interface Exchange {
  readonly question: Question;
  /** Seconds since the epoch. */
  readonly askedAt: number;
  readonly answer: Answer;
  /** Whether the connection was lost and is tried again. */
  readonly isRetrying: boolean;
  readonly isStopping: boolean;
}

/** The conversation that an exchange belongs to; none while a question waits for the one it begins. */
export function conversationOf({ question, answer }: Exchange): string {
  return answer.conversationId || question.conversationId;
}

type Listener = () => void;

const STOP_MS = 4_000;

/**
 * An answer that is read from the server. It goes on while the person looks at another page, and is found again by the
 * conversation it belongs to.
 */
export class Running {
  private current: Exchange;
  private readonly listeners = new Set<Listener>();
  private readonly controller = new AbortController();

  constructor(question: Question, askedAt: number, answer: Answer = NOTHING) {
    this.current = { question, askedAt, answer, isRetrying: false, isStopping: false };
  }

  readonly exchange = (): Exchange => this.current;

  readonly subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  get conversationId(): string {
    return conversationOf(this.current);
  }

  get isOver(): boolean {
    return isOver(this.current.answer);
  }

  /** Ends the model's call on the server, which then ends what is read here. */
  async stop(): Promise<void> {
    if (this.isOver || this.current.isStopping) return;
    this.change({ isStopping: true });
    const { id } = this.current.answer;
    // A server that is silent must not keep anybody waiting.
    setTimeout(this.leave, STOP_MS);
    try {
      if (id) await post(`/answers/${id}/stop`);
      else this.leave();
    } catch {
      this.leave();
    }
  }

  /** Ends the request itself. */
  private readonly leave = (): void => {
    this.controller.abort();
    if (!this.isOver) this.finish({ phase: "stopped" });
  };

  async read(path: string, reading: Omit<Reading, "signal" | "onRetry"> = {}): Promise<void> {
    const onRetry = () => this.change({ isRetrying: true });
    try {
      await readEvents(path, { ...reading, signal: this.controller.signal, onRetry }, (event) => {
        const isBegun = this.current.answer.id !== "";
        this.change({ answer: after(this.current.answer, event), isRetrying: false });
        if (!isBegun) this.tell();
      });
    } catch (error) {
      const { code, detail, hint } = asProblem(error);
      if (!isAbort(error) && !this.isOver) this.finish({ phase: "failed", failure: { code, detail, hint } });
    }
    this.tell();
  }

  private tell(): void {
    tellOthers(this.conversationId);
    changed();
  }

  private finish(end: Partial<Answer>): void {
    this.change({ answer: { ...this.current.answer, ...end }, isRetrying: false });
  }

  private change(some: Partial<Exchange>): void {
    this.current = { ...this.current, ...some };
    for (const listener of this.listeners) listener();
  }
}

// ---- all of them

let all: readonly Running[] = [];
const allListeners = new Set<Listener>();

function changed(next: readonly Running[] = [...all]): void {
  all = next;
  for (const listener of allListeners) listener();
}

function subscribeAll(listener: Listener): () => void {
  allListeners.add(listener);
  return () => allListeners.delete(listener);
}

/** Asks a question; in no conversation begins one. */
export function ask(question: Question): Running {
  const running = new Running(question, Date.now() / 1000);
  changed([...all, running]);
  const body = {
    query: question.text,
    project_ids: question.projectIds,
    conversation_id: question.conversationId,
    keep: true,
    // An agent works in its own way.
    ...(question.isThorough && !question.isAgent ? { thorough: true } : {}),
  };
  void running.read(question.isAgent ? "/ask/agent" : "/ask/stream", { method: "POST", body });
  return running;
}

/** Goes on reading what was asked before this page was loaded, or in another one. */
export function attach(conversationId: string, answering: Schemas["AnsweringOut"]): void {
  if (all.some((running) => running.exchange().answer.id === answering.answer_id)) return;
  const { question: text, is_agent: isAgent = false, asked_at: askedAt, answer_id: id } = answering;
  const question = { text, projectIds: [], conversationId, isAgent };
  const running = new Running(question, askedAt, { ...NOTHING, id, conversationId });
  changed([...all, running]);
  void running.read(`/answers/${id}/events`);
}

/** Forgets answers, such as those that a conversation has kept meanwhile. */
export function forget(isGone: (running: Running) => boolean): void {
  if (all.some(isGone)) changed(all.filter((running) => !isGone(running)));
}

/** Returns the answers that this page reads or has read. */
export function useRunning(): readonly Running[] {
  return useSyncExternalStore(subscribeAll, () => all);
}

export function useExchange(of: Exchange | Running): Exchange;
export function useExchange(of: Exchange | Running | undefined): Exchange | undefined;
export function useExchange(of: Exchange | Running | undefined): Exchange | undefined {
  const isRead = of instanceof Running;
  return useSyncExternalStore(isRead ? of.subscribe : subscribeToNothing, isRead ? of.exchange : () => of);
}

const subscribeToNothing = () => () => undefined;
