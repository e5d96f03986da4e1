import { expect, test } from "vitest";
import { pageAt, pagesOf } from "./page-marks";
import { isDrawing, isPhoto, isPicture } from "./picture-names";

const TEXT = "[page 3]\nOne\n [page 9]\n\n[page 4]\nTwo\n";

test("pages are told by their marks", () => {
  expect(pagesOf(TEXT)).toEqual([3, 4]);
  expect([0, 1, 2, 3, 4, 5, 99].map((line) => pageAt(TEXT, line))).toEqual([3, 3, 3, 3, 4, 4, 4]);
  expect(pageAt("rest\n[page 7]\n", 0)).toBe(7);
  expect(pageAt("", 0)).toBe(1);
});

test("pictures are told by their names", () => {
  expect(["a.PNG", "b/c.jpeg", "d.svg"].map(isPicture)).toEqual([true, true, true]);
  expect(["png", "a.png.txt", "a.py"].map(isPicture)).toEqual([false, false, false]);
  expect([isPhoto("a.svg"), isDrawing("a.svg"), isPhoto("a.webp")]).toEqual([false, true, true]);
});
