import { expect, it } from "vitest";
import { notebookMarkdown } from "./notebook";

it("keeps words and puts code and output into blocks", () => {
  const text = "[cell 1: markdown]\n# Prices\n\n[cell 2: python]\nprint(1)\n\n[cell 2: output]\n1\n";
  expect(notebookMarkdown(text)).toBe("# Prices\n\n```python\nprint(1)\n```\n\n```\n1\n```");
});

it("lets no code end its own block", () => {
  expect(notebookMarkdown('[cell 1: python]\nx = """\n```\n# no heading\n"""')).toBe(
    '````python\nx = """\n```\n# no heading\n"""\n````',
  );
});
