/** A message of a stream of server-sent events. */
export interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface Parser {
  /** Takes the next bytes, cut anywhere, and returns the messages that are whole now. */
  push: (bytes: Uint8Array) => Message[];
}

/** Returns a parser of one stream, as the HTML standard describes it. */
export function createParser(): Parser {
  const decoder = new TextDecoder("utf-8");
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];

  function line(text: string): Message | undefined {
    if (text === "") return dispatch();
    const colon = text.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    return undefined;
  }

  function dispatch(): Message | undefined {
    const message = data.length ? { id, event: event || "message", data: data.join("\n") } : undefined;
    event = "";
    data = [];
    return message;
  }

  return {
    push: (bytes) => {
      rest += decoder.decode(bytes, { stream: true });
      const found: Message[] = [];
      for (;;) {
        // A CR at the very end may be the first half of CRLF: it waits for what comes next.
        const end = /\r\n|\n|\r(?!$)/.exec(rest);
        if (!end) return found;
        const message = line(rest.slice(0, end.index));
        rest = rest.slice(end.index + end[0].length);
        if (message) found.push(message);
      }
    },
  };
}
