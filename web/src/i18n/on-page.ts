import type { Language } from ".";

type Words = Readonly<Record<Language, string>>;

const PROJECT = 'POST /projects/[^/\\s]+/index(?: with \\{"full": true\\})?';
/** Commands and routes that sentences of the server name, and what the page has for the same. */
const PLACES: readonly (readonly [RegExp, Words])[] = [
  [
    // What is to be done in a folder, only somebody at the machine of the server can do.
    new RegExp(`\`fathom (?:fleet )?index(?: NAME)?(?: --full)?\`(?! in the folder| 可看到)|${PROJECT}`, "g"),
    { en: "“Index”", zh: "“建立索引”" },
  ],
  [/`fathom status --skipped`|GET \/projects\/[^/\s]+\/status/g, { en: "“Files left out”", zh: "“未收录的文件”" }],
  [
    /`fathom status`(?= (?:tells|shows|lists|显示))|GET \/projects\/[^/\s]+(?![/\w])/g,
    { en: "“Overview”", zh: "“概览”" },
  ],
  // A chat and a search of the page have no such option.
  [
    /; (?:`--anyway`|"anyway": true in POST \/ask and POST \/context) shows the closest matches|；`--anyway` 显示最接近的结果/g,
    { en: "", zh: "" },
  ],
  [/`--min-score`|\bmin_score\b/g, { en: "the lowest score", zh: "最低分数" }],
  [/`fathom ask`|POST \/ask\b/g, { en: "the chat", zh: "聊天" }],
];
const ORDER: Readonly<Record<Language, readonly (readonly [RegExp, string])[]>> = {
  en: [[/\b(?:run|send) (?=“)/g, "choose "]],
  zh: [
    [/运行 ?(?=“)/g, "选择"],
    [/ ?(“[^”]*”|聊天) (?=[^\x00-\x7f])/g, "$1"],
  ],
};

/** A sentence of the server with the places of the page in the stead of commands and routes that do the same. */
export function onPage(sentence: string, language: Language): string {
  if (!/`fathom |`--|min_score|(?:GET|POST) \//.test(sentence)) return sentence;
  const placed = PLACES.reduce((text, [pattern, words]) => text.replace(pattern, words[language]), sentence);
  return ORDER[language].reduce((text, [pattern, words]) => text.replace(pattern, words), placed);
}
