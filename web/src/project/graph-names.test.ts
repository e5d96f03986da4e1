import { describe, expect, it } from "vitest";
import { apart } from "./graph-names";

const box = (x1: number, y1: number) => ({ x1, y1, x2: x1 + 10, y2: y1 + 4 });

describe("apart", () => {
  it("leaves out what would lie on an earlier one", () => {
    expect(apart([box(0, 0), box(9, 3), box(10, 0), box(0, 4)])).toEqual([true, false, true, true]);
  });

  it("gives no room to what is not shown itself", () => {
    expect(apart([box(0, 0), box(8, 0), box(16, 0)])).toEqual([true, false, true]);
  });

  it("shows all that have room", () => {
    expect(apart([])).toEqual([]);
    expect(apart([box(0, 0), box(20, 20)])).toEqual([true, true]);
  });
});
