import { describe, expect, it } from "vitest";
import { type Item, MOST_IN_GROUP, matching, questionForFiles } from "./matching";

const item = (label: string, more?: string): Item => ({ key: label, label, more, open: () => undefined });
const labels = (items: readonly Item[]) => items.map(({ label }) => label);

describe("what is found", () => {
  it("has all words, in the label or beside it, and begins with the text if it can", () => {
    const items = [item("the shop"), item("shop", "/srv/code"), item("web", "/srv/shop")];
    expect(labels(matching(items, "SHOP"))).toEqual(["shop", "the shop", "web"]);
    expect(labels(matching(items, " srv shop "))).toEqual(["shop", "web"]);
    expect(labels(matching(items, "nothing"))).toEqual([]);
  });

  it("is all there is where nothing is typed, but not more than fits", () => {
    expect(matching([item("a"), item("b")], " ")).toHaveLength(2);
    expect(
      matching(
        Array.from({ length: 50 }, (_, n) => item(`${n}`)),
        "",
      ),
    ).toHaveLength(MOST_IN_GROUP);
  });
});

describe("the question for files", () => {
  it("asks for a name, or for a path where a slash is typed", () => {
    expect(questionForFiles("pricing.py")).toBe('name:"pricing.py"');
    expect(questionForFiles("shop/pri")).toBe('path:"shop/pri"');
  });

  it("cannot be left by marks of the language of filters", () => {
    expect(questionForFiles('x" -path:"shop')).toBe('name:"x  -path: shop"');
    expect(questionForFiles('"\\"')).toBe("");
  });
});
