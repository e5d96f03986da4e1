import { describe, expect, test } from "vitest";
import { ENGLISH, type Kind, MARKS } from "./kinds";
import { CHINESE } from "./kinds-zh";
import { type Note, piecesOf, withMarks, wordsOf } from "./notes";
import { loadWords } from "./words";

await loadWords("zh");

const note = (kind: Kind, values: Note["values"] = {}): Note => ({ kind, values });
const names = (text: string) => (text.match(/\{[^}]*\}/g) ?? []).sort();

describe("notes of the server in Chinese", () => {
  test.each<readonly [readonly Note[], string]>([
    [
      [note("defines", { name: "price_of" }), note("mentions", { words: ["cart", "total"] }), note("close")],
      "定义 price_of；提到 cart, total；含义相近",
    ],
    [[note("matches", { count: 3, line: 1200 })], "3 处匹配，第一处在第 1200 行"],
    [
      [note("not_that_way", { why: note("what_calls", { name: "{line}" }) as never })],
      "问的是什么调用 {line}，但这样没有找到任何内容",
    ],
    [
      [note("sentence", { notes: [note("no_edges"), note("edges_left_out", { count: 1200 })] as never })],
      "没有找到任何内容；另有 1,200 条关联未列出。",
    ],
    [[note("heading", { title: "a; {title} $& calls it" })], "标题“a; {title} $& calls it”"],
  ])("%j", (notes, chinese) => expect(wordsOf(notes, "English", "zh")).toBe(chinese));

  test("are the sentence itself on an English page, and marked as English where there are no words", () => {
    expect(piecesOf([note("close")], "close in meaning", "en")).toEqual([
      { text: "close in meaning", isForeign: false },
    ]);
    for (const notes of [
      undefined,
      [],
      [{ kind: "of tomorrow", values: {} }],
      [note("close"), { kind: "toString", values: {} }],
    ]) {
      expect(piecesOf(notes, "something", "zh")).toEqual([{ text: "something", isForeign: true }]);
    }
    expect(piecesOf([note("verbatim", { text: "it broke" })], "it broke", "zh")).toEqual([
      { text: "it broke", isForeign: true },
    ]);
    expect(piecesOf([note("close")], "", "zh")).toEqual([]);
  });

  test.each(Object.keys(ENGLISH) as Kind[])("%s has words with the same values", (kind) => {
    expect(names(CHINESE[kind])).toEqual(names(ENGLISH[kind]));
    expect(CHINESE[kind]).not.toBe(kind === "verbatim" || kind === "all_of" ? "" : ENGLISH[kind]);
  });
});

test("the marks in an answer are Chinese on the Chinese page", () => {
  const text = `So it is ${MARKS.map((kind) => ENGLISH[kind]).join(" and ")}.`;
  expect(withMarks(text, "en")).toBe(text);
  expect(withMarks(text, "zh")).toBe(`So it is ${MARKS.map((kind) => CHINESE[kind]).join(" and ")}.`);
});
