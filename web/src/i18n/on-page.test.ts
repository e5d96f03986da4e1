import { expect, test } from "vitest";
import { ENGLISH } from "./kinds";
import { CHINESE } from "./kinds-zh";
import { onPage } from "./on-page";

test.each([
  ["POST /projects/shop/index makes it", "“Index” makes it"],
  ["send POST /projects/ID/index to build it again", "choose “Index” to build it again"],
  ['POST /projects/ID/index with {"full": true}', "“Index”"],
  [ENGLISH.run_index, "choose “Index”"],
  [ENGLISH.index_empty, "the index is empty; “Files left out” tells which files were left out and why"],
  [
    "try other words, or fewer; GET /projects/ID tells what is indexed",
    "try other words, or fewer; “Overview” tells what is indexed",
  ],
  ["GET /projects/shop/status lists what is left out", "“Files left out” lists what is left out"],
  ["it is a question; POST /ask answers it in words", "it is a question; the chat answers it in words"],
  [ENGLISH.old_format_remedy, ENGLISH.old_format_remedy],
  [ENGLISH.start_again_or_index, ENGLISH.start_again_or_index],
  [ENGLISH.too_slow_after_others, ENGLISH.too_slow_after_others],
  [ENGLISH.not_found, "not found: nothing in the index seems to answer this, so no model was called"],
  ['weak: so; "anyway": true in POST /ask and POST /context shows the closest matches', "weak: so"],
  [ENGLISH.scores_below, "every hit scores below the limit; lower the lowest score"],
  ["GET /openapi.json lists the routes", "GET /openapi.json lists the routes"],
  ["close in meaning", "close in meaning"],
])("%s", (sentence, shown) => expect(onPage(sentence, "en")).toBe(shown));

test.each([
  [CHINESE.run_index, "请选择“建立索引”"],
  [CHINESE.index_builds_again, "请选择“建立索引”重新生成它"],
  [CHINESE.index_makes_them, "“建立索引”会生成它们"],
  [CHINESE.other_words, "请换用其他词语，或减少词语；“概览”显示已索引的内容"],
  [CHINESE.index_empty, "索引是空的；“未收录的文件”说明哪些文件未收录及原因"],
  [CHINESE.question, "这是一个问题；聊天用文字回答它"],
  [CHINESE.not_found, "未找到：索引中似乎没有答案，因此没有调用模型"],
  [CHINESE.scores_below, "所有结果的分数都低于限制；请降低最低分数"],
  [CHINESE.old_format_remedy, CHINESE.old_format_remedy],
  [CHINESE.start_again_or_index, CHINESE.start_again_or_index],
])("%s", (sentence, shown) => expect(onPage(sentence, "zh")).toBe(shown));
