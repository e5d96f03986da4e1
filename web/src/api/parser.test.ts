import { describe, expect, it } from "vitest";
import { createParser, type Message } from "./parser";

const STREAM = [
  ": heartbeat\n\n",
  'id: 7d1f.1\ndata: {"type": "status"}\n\n',
  "id: 7d1f.2\r\nevent: content\r\ndata: erste Zeile\r\ndata: 第二行 🎉\r\n\r\n",
  "data\r\rdata:no space\rretry: 3\r\r",
  "id: 7d1f.3\nevent: nothing follows\n\n",
  "id: bad\0id\ndata:  one space is cut\n\n",
].join("");

const EXPECTED: Message[] = [
  { id: "7d1f.1", event: "message", data: '{"type": "status"}' },
  { id: "7d1f.2", event: "content", data: "erste Zeile\n第二行 🎉" },
  { id: "7d1f.2", event: "message", data: "" },
  { id: "7d1f.2", event: "message", data: "no space" },
  { id: "7d1f.3", event: "message", data: " one space is cut" },
];

function parsed(pieces: readonly Uint8Array[]): Message[] {
  const parser = createParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

describe("the parser of events", () => {
  const bytes = new TextEncoder().encode(STREAM);

  it("reads a stream that comes at once", () => {
    expect(parsed([bytes])).toEqual(EXPECTED);
  });

  it("reads it split at every byte", () => {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(parsed([bytes.slice(0, cut), bytes.slice(cut)]), `cut at ${cut}`).toEqual(EXPECTED);
    }
  });

  it("reads it byte by byte", () => {
    expect(parsed([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EXPECTED);
  });

  it("skips the mark that some put before everything", () => {
    expect(parsed([Uint8Array.of(0xef, 0xbb, 0xbf), new TextEncoder().encode("data: 1\n\n")])).toHaveLength(1);
  });

  it("keeps back what is not whole", () => {
    expect(parsed([new TextEncoder().encode("data: 1\n")])).toEqual([]);
  });
});
