import { afterEach, describe, expect, it, vi } from "vitest";
import { Problem } from "./client";
import { readEvents, type ServerEvent } from "./events";

interface Asked {
  readonly url: string;
  readonly lastEventId: string | null;
}

/** Answers each request with the next stream; a stream is a list of events, cut off after the last of them. */
function serve(...streams: readonly (readonly string[] | Response)[]): Asked[] {
  const asked: Asked[] = [];
  const left = [...streams];
  vi.stubGlobal("localStorage", { getItem: () => null });
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, lastEventId: new Headers(init.headers).get("last-event-id") });
    const next = left.shift() ?? new Response(null, { status: 500 });
    return Promise.resolve(next instanceof Response ? next : new Response(next.join("")));
  });
  return asked;
}

const event = (number: number, type: string) => `id: a.${number}\ndata: {"type": "${type}", "data": ${number}}\n\n`;

async function read(path = "/jobs/1/events", options = {}): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  await readEvents(path, options, (one) => events.push(one));
  return events;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("reading events", () => {
  it("ends after the last event", async () => {
    const asked = serve([event(1, "status"), event(2, "done")]);
    expect((await read()).map(({ type, data }) => [type, data])).toEqual([
      ["status", 1],
      ["done", 2],
    ]);
    expect(asked).toEqual([{ url: "/api/jobs/1/events", lastEventId: null }]);
  });

  it("goes on after the last event when the connection is lost", async () => {
    vi.useFakeTimers();
    const asked = serve([event(1, "status")], [event(2, "status"), "data: not ours\n\n"], [event(3, "done")]);
    const reading = read();
    await vi.runAllTimersAsync();
    expect((await reading).map(({ id }) => id)).toEqual(["a.1", "a.2", "a.3"]);
    expect(asked.map(({ lastEventId }) => lastEventId)).toEqual([null, "a.1", "a.2"]);
  });

  it.each([429, 503])("tries again after a status %i, and gives up at last", async (status) => {
    vi.useFakeTimers();
    const asked = serve(...Array.from({ length: 20 }, () => new Response("", { status })));
    const failing = expect(read()).rejects.toThrow(Problem);
    await vi.runAllTimersAsync();
    await failing;
    expect(asked).toHaveLength(9);
  });

  it("does not ask a question twice that the server may have begun to answer", async () => {
    const asked = serve([]);
    await expect(read("/ask/stream", { method: "POST", body: {} })).rejects.toThrow("lost");
    expect(asked).toHaveLength(1);
  });

  it("says what the server says when it refuses", async () => {
    serve(new Response('{"code": "not_found", "detail": "no such job", "hint": "GET /jobs"}', { status: 404 }));
    await expect(read()).rejects.toMatchObject({ status: 404, code: "not_found", hint: "GET /jobs" });
  });

  it("stops waiting when it is told to", async () => {
    serve([event(1, "status")]);
    const controller = new AbortController();
    const reading = read("/jobs/1/events", { signal: controller.signal, onRetry: () => controller.abort() });
    await expect(reading).rejects.toThrow("stopped");
  });
});
