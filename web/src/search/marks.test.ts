import { describe, expect, it } from "vitest";
import { marksIn, wordsOf } from "./marks";

function marked(question: string, line: string, reasons: Parameters<typeof wordsOf>[1] = []): string[] {
  return marksIn(line, wordsOf(question, reasons)).map(([start, end]) => line.slice(start, end));
}

describe("marked words", () => {
  it.each([
    ["where are orders priced", "def price_of(order): return orders.pricing", ["price", "order", "orders", "pricing"]],
    ["retry", "func RetryWithBackoff(retries int) // retry", ["Retry", "retries", "retry"]],
    ["retries", "func RetryWithBackoff(retries int)", ["Retry", "retries"]],
    ["HTTPServer", "class HTTPServer2(httpServer)", ["HTTPServer", "httpServer"]],
    ["price_of", "total += price_of(item)", ["price"]],
    ["backoff", "retrybackoff(3)", ["backoff"]],
    ["id", "identity(id, ids)", ["id", "ids"]],
    ["订单价格", "计算订单的价格", ["订单", "价格"]],
    ["ünïcode straße", "Straße ÜNÏCODE", ["Straße", "ÜNÏCODE"]],
    ["a.b*c(", "a.b*c(", []],
  ])("of %j in %j", (question, line, found) => {
    expect(marked(question, line)).toEqual(found);
  });

  it("are no conditions and no little words", () => {
    expect(marked("lang:python @src/shop how is the cart -dir:tests", "python src shop how is the cart tests")).toEqual(
      ["cart"],
    );
    expect(marked("@@Cart.total", "class Cart: total = 0")).toEqual(["Cart", "total"]);
  });

  it("are also those which the server has found", () => {
    expect(marked("购物车", "def total(cart): pass", [{ kind: "mentions", values: { words: ["cart"] } }])).toEqual([
      "cart",
    ]);
  });

  it("lie in order inside the line, none touching another, whatever the words", () => {
    const lines = ["", "  price = order.price  ", "价格 price 价格", "x".repeat(50)];
    for (const line of lines) {
      for (const words of [[], ["price"], ["p", "pr", "pric"], ["价格"], ["xxxxx"]]) {
        const edges = marksIn(line, words).flat();
        expect(edges).toEqual([...new Set(edges)].sort((one, other) => one - other));
        expect(edges.every((edge) => edge >= 0 && edge <= line.length)).toBe(true);
      }
    }
  });

  it("that touch are one", () => {
    expect(marksIn("aaaaaaa", ["aaaaa"])).toEqual([[0, 7]]);
  });
});
