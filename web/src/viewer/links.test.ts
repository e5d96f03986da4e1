import { describe, expect, it } from "vitest";
import { headingId, targetOf } from "./links";

const web = (address: string) => ({ kind: "web", address });
const file = (path: string, startLine?: number, endLine = startLine) => ({
  kind: "file",
  place: { path, startLine, endLine },
});
const none = { kind: "none" };

describe("targetOf", () => {
  it.each([
    ["https://example.org/a", web("https://example.org/a")],
    ["HTTP://example.org", web("HTTP://example.org")],
    ["guide.md", file("docs/guide.md")],
    ["./a%20b.md#L3-L9", file("docs/a b.md", 3, 9)],
    ["../src/a.py?plain=1#L7", file("src/a.py", 7)],
    ["/README.md", file("README.md")],
    ["#install", { kind: "heading", id: "install" }],
    ["guide.md#install", file("docs/guide.md")],
  ])("%s leads to its place", (href, target) => {
    expect(targetOf(href, "docs/index.md")).toEqual(target);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "mailto:a@b.c",
    "//evil.example/x",
    "/\\evil.example",
    "\\\\evil.example\\x",
    "http:evil",
    "https:///evil",
    "../../etc/passwd",
    "a/../../../x",
    "%2e%2e/%2e%2e/x",
    "a%5c..%5cb",
    "a%00b",
    "%E0%A4%A",
    "..",
    "",
    "#",
  ])("%s leads nowhere", (href) => {
    expect(targetOf(href, "docs/index.md")).toEqual(none);
  });
});

describe("headingId", () => {
  it("is the one that code hosts make", () => {
    expect(headingId("What's new: `fathom` 2.0?")).toBe("whats-new-fathom-20");
    expect(headingId("安装 Install")).toBe("安装-install");
  });
});
