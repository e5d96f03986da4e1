import { expect, test } from "vitest";
import { ageOf, boxesOf } from "./boxes";

const file = (path: string, size: number) => ({ path, size, changed_at: 0 });

test("files have room by their size, and lie in the boxes of their folders", () => {
  const boxes = boxesOf([file("a/x.py", 300), file("a/b/y.py", 100), file("z.py", 400)], 400, 200);
  const of = (path: string) => boxes.find((box) => box.path === path)!;
  expect(boxes.map((box) => box.path).sort()).toEqual(["a", "a/b/y.py", "a/x.py", "z.py"]);
  const area = (path: string) => of(path).width * of(path).height;
  expect(area("a/x.py") / area("a/b/y.py")).toBeGreaterThan(2);
  expect(of("a/x.py").left).toBeGreaterThanOrEqual(of("a").left);
  expect(of("a/x.py").top).toBeGreaterThanOrEqual(of("a").top + 16);
  expect(boxesOf([], 400, 200)).toEqual([]);
});

test("the age of a change has six names", () => {
  const now = 1_790_000_000;
  const ages = [1, 20, 100, 300, 400].map((days) => ageOf(now - days * 86_400, now));
  expect(ages).toEqual(["week", "month", "half", "year", "older"]);
  expect(ageOf(0, now)).toBe("none");
});
