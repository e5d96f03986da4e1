import { describe, expect, test } from "vitest";
import { inChinese, PHRASES } from "./server-text";

describe("a text of the server in Chinese", () => {
  test.each([
    ["defines price_of; mentions cart, total; close in meaning", "定义 price_of；提到 cart, total；含义相近"],
    ["3 matches, the first in line 12", "3 处匹配，第一处在第 12 行"],
    ["calls it 2 times", "调用它 2 次"],
    ["openai:a@http://h/v1 answered in 0.3 s as b", "openai:a@http://h/v1 在 0.3 秒内以 b 应答"],
    ["none is configured; answers consist of excerpts", "未配置；回答由摘录组成"],
  ])("%s", (english, chinese) => expect(inChinese(english)).toBe(chinese));

  test("is not made up where a phrase is not known", () => {
    expect(inChinese("defines a; something else")).toBeUndefined();
    expect(inChinese("")).toBeUndefined();
  });

  test("has every value of the English phrase", () => {
    const count = (text: string) => text.split("{}").length;
    expect(PHRASES.filter(([english, chinese]) => count(english) !== count(chinese))).toEqual([]);
  });
});
