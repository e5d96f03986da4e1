import { asProblem, isAbort, Problem, type Request, send } from "./client";
import { createParser } from "./parser";

/** An event of a job or of an answer; `id` is where to go on after it. */
export interface ServerEvent<Data = unknown> {
  readonly id: string;
  readonly type: string;
  readonly data: Data;
}

export interface Reading extends Pick<Request, "method" | "body" | "signal"> {
  readonly lastEventId?: string;
  /** Called when the connection was lost and is tried again, with how often by now. */
  readonly onRetry?: (attempt: number) => void;
}

export type OnEvent = (event: ServerEvent) => void;

const LAST = "done";
const MOST_ATTEMPTS = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/**
 * Reads the events of a job or an answer until the last one, "done". A connection that is lost is made again, and goes
 * on after the last event that came. `signal` ends the request itself, so that the server notices.
 */
export async function readEvents(path: string, reading: Reading, onEvent: OnEvent): Promise<void> {
  let lastEventId = reading.lastEventId ?? "";
  let attempt = 0;
  for (;;) {
    const before = lastEventId;
    try {
      const ended = await readOnce(path, { ...reading, lastEventId }, (event) => {
        lastEventId = event.id || lastEventId;
        onEvent(event);
      });
      if (ended) return;
    } catch (error) {
      const isRefused = !lastEventId && reading.method === "POST" && asProblem(error).status > 0;
      if (isAbort(error) || isRefused || !mayPass(error)) throw error;
    }
    // A server that has begun again knows neither the place nor, for a question, that it was asked.
    if (!lastEventId && reading.method === "POST") throw new Problem(0, "offline", "the connection was lost");
    attempt = lastEventId === before ? attempt + 1 : 1;
    if (attempt > MOST_ATTEMPTS) throw new Problem(0, "offline", "the connection was lost");
    reading.onRetry?.(attempt);
    await pause(Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS), reading.signal);
  }
}

/** Whether trying again can help: the connection broke, the server is starting or busy, or we ask too much. */
function mayPass(error: unknown): boolean {
  const { status } = asProblem(error);
  return status <= 0 || status === 429 || status === 502 || status === 503 || status === 504;
}

/** Reads one connection to its end. Returns whether the last event came. */
async function readOnce(path: string, reading: Reading, onEvent: OnEvent): Promise<boolean> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (reading.lastEventId) headers["last-event-id"] = reading.lastEventId;
  const response = await send(path, { method: reading.method, body: reading.body, signal: reading.signal, headers });
  const reader = response.body?.getReader();
  if (!reader) return false;
  const parser = createParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    for (const message of parser.push(value)) {
      const event = eventOf(message.id, message.data);
      if (!event) continue;
      onEvent(event);
      if (event.type === LAST) return true;
    }
  }
}

function eventOf(id: string, data: string): ServerEvent | undefined {
  try {
    const told = JSON.parse(data) as { type?: unknown; data?: unknown } | null;
    return typeof told?.type === "string" ? { id, type: told.type, data: told.data } : undefined;
  } catch {
    return undefined; // not of our server: a proxy that says something of its own
  }
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DOMException("stopped", "AbortError"));
    if (signal?.aborted) {
      abort();
      return;
    }
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), abort()), { once: true });
  });
}
