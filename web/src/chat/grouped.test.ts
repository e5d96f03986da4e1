import { describe, expect, it } from "vitest";
import { fileName, grouped } from "./grouped";

describe("conversations by day", () => {
  const now = new Date(2026, 10, 21, 9, 30);
  const at = (day: number, hour: number) => ({ changed_at: new Date(2026, 10, day, hour).getTime() / 1000 });

  it("are today's until midnight, then yesterday's, then of the week", () => {
    const days = [at(21, 9), at(21, 0), at(20, 23), at(20, 0), at(19, 23), at(15, 0), at(14, 23)];
    expect(grouped(days, now).map((group) => [group.when, group.items.length])).toEqual([
      ["today", 2],
      ["yesterday", 2],
      ["week", 2],
      ["older", 1],
    ]);
  });

  it("may be none", () => {
    expect(grouped([], now)).toEqual([]);
  });
});

describe("the name of a file", () => {
  it.each([
    ["where are orders priced?", "where are orders priced.md"],
    ["../../etc/passwd", "etc passwd.md"],
    ['a:b*c|"d"\n', "a b c d.md"],
    ["价格在哪里计算？", "价格在哪里计算？.md"],
    [" ... ", "conversation.md"],
    ["", "conversation.md"],
    ["x".repeat(200), `${"x".repeat(80)}.md`],
  ])("of %j is %j", (title, name) => {
    expect(fileName(title, "md")).toBe(name);
  });
});
