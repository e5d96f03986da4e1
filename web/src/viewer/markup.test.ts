import { describe, expect, it } from "vitest";
import { hasTag, isSoonSet } from "./markup";

describe("isSoonSet", () => {
  it.each([
    ["words", "# Title\n\nSome *words* and a [link](a.md).\n".repeat(2_000)],
    ["a usual table", `| a | b | c |\n|---|---|---|\n${"| 1 | 2 | 3 |\n".repeat(2_000)}`],
    ["lines below a rule", `a\n---\n${"word | word\n".repeat(10_000)}`],
    ["notes", `${"word[^1] ".repeat(200)}\n\n[^1]: a note`],
    ["a list in a list", "- a\n  - b\n    - c\n"],
  ])("is true for %s", (_, text) => {
    expect(isSoonSet(text)).toBe(true);
  });

  it.each([
    ["a table of many columns and rows", `${"|a".repeat(5_000)}|\n${"|-".repeat(5_000)}|\n${"a\n".repeat(5_000)}`],
    ["one in a quotation", `> ${"|a".repeat(500)}|\n> ${"|-".repeat(500)}|\n${"> a\n".repeat(500)}`],
    ["one of two columns without end", `|a|b|\n|-|-|\n${"a\n".repeat(50_000)}`],
    ["quotations in quotations", ">".repeat(5_000)],
    ["lists in lists", "- ".repeat(5_000)],
    ["numbered ones", "1. ".repeat(5_000)],
    ["definitions", "[a]: b\n".repeat(5_000)],
    ["a list of very many items", "- a\n".repeat(20_000)],
    ["very many paragraphs", "a\n\n".repeat(20_000)],
    ["very many words that stand out", "*a* ".repeat(20_000)],
    ["very much code", "`a` ".repeat(20_000)],
    ["very many links", "http://a.b ".repeat(20_000)],
    ["references to notes", `${"[^a]".repeat(5_000)}\n\n[^a]: x`],
  ])("is false for %s", (_, text) => {
    expect(isSoonSet(text)).toBe(false);
  });
});

describe("hasTag", () => {
  it.each(["a <b>c</b>", "<br/>", '<img\nsrc="x">', "a < b <i>"])("sees the tag in %j", (text) => {
    expect(hasTag(text)).toBe(true);
  });

  it.each(["a < b > c", "`<b>`", "<!-- a -->", "<a <a <a", "<https://example.org>"])("sees none in %j", (text) => {
    expect(hasTag(text)).toBe(false);
  });

  // Took the square of its length, which held up the page.
  it("ends for a text of open tags", () => {
    expect(hasTag("<a ".repeat(100_000))).toBe(false);
    expect(hasTag("<a \n".repeat(75_000))).toBe(false);
  });
});
