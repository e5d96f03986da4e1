import { describe, expect, it } from "vitest";
import { ofBrowser } from ".";
import { en } from "./en";
import { formatOf } from "./format";
import { fill } from "./texts";
import { zh } from "./zh";

const names = (text: string) => [...text.matchAll(/\{(\w+)/g)].map((found) => found[1]);

describe("texts", () => {
  it("are there in both languages", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
    expect(Object.entries({ ...en, ...zh }).filter(([, text]) => !text.trim())).toEqual([]);
  });

  it("name the same values in both", () => {
    const wrong = (Object.keys(en) as (keyof typeof en)[]).filter((key) =>
      names(zh[key]).some((name) => !names(en[key]).includes(name)),
    );
    expect(wrong).toEqual([]);
  });

  it("are translated, but for names", () => {
    const same = Object.entries(en).filter(
      ([key, text]) => zh[key as keyof typeof en] === text && /[a-z]{4} /.test(text),
    );
    expect(same).toEqual([]);
  });

  it("take values, and the word that fits a number", () => {
    expect(fill("{n} {n|file|files} in {place}", { n: 1, place: "shop" })).toBe("1 file in shop");
    expect(fill("{n} {n|file|files}", { n: 1_200 })).toBe("1,200 files");
    expect(fill("{unknown}")).toBe("{unknown}");
  });

  it("come in the language that was chosen, else in the first one that the browser wants and we have", () => {
    expect(ofBrowser("zh", ["en-GB"])).toBe("zh");
    expect(ofBrowser("", ["fr", "zh-TW", "en"])).toBe("zh");
    expect(ofBrowser("", ["fr"])).toBe("en");
  });
});

describe("numbers", () => {
  const format = formatOf("en");

  it("are short", () => {
    expect(format.bytes(0)).toBe("0 bytes");
    expect(format.bytes(1_540_000)).toBe("1.5 MB");
    expect(format.bytes(154_000_000)).toBe("154 MB");
    expect(format.milliseconds(8.04)).toBe("8 ms");
    expect(format.milliseconds(2_345)).toBe("2.3 sec");
    expect(format.duration(0.44)).toBe("0.4 sec");
    expect(format.duration(600)).toBe("10 min");
    expect(format.percent(0.804)).toBe("80%");
  });

  it("tell how long ago something was", () => {
    expect(format.ago(1_000, 1_000 + 3 * 3_600)).toBe("3 hours ago");
    expect(format.ago(1_000, 1_001)).toBe("now");
    expect(formatOf("zh").ago(0, 86_400)).toBe("昨天");
    expect(formatOf("zh").ago(0, 1)).toBe("刚刚");
  });
});
