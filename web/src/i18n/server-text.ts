import { texts } from "./texts";

/** What the server sends as a code: the errors, and the kinds of symbols. tests/web/test_server_texts.py compares. */
export const serverText = texts(
  {
    "problem.bad_request": "The request is not valid",
    "problem.busy": "The server is busy",
    "problem.closed": "This cannot be changed here",
    "problem.conflict": "This is in the way of something else",
    "problem.crashed": "The run ended unexpectedly",
    "problem.damaged": "The index is damaged",
    "problem.forbidden": "This is not allowed",
    "problem.index": "The index cannot be read or written",
    "problem.indexing": "The project is being indexed",
    "problem.internal": "The server has made an error",
    "problem.interrupted": "The run was interrupted",
    "problem.invalid": "The request has wrong values",
    "problem.left": "Cancelled: the client disconnected",
    "problem.locked": "Another program writes this index",
    "problem.method_not_allowed": "The server does not support this",
    "problem.mismatch": "The index was made with another model",
    "problem.no_grammar": "A language cannot be parsed",
    "problem.moved": "The folder of the project has moved",
    "problem.not_found": "This does not exist",
    "problem.not_indexed": "The project has no index yet",
    "problem.not_installed": "A library is missing on the server",
    "problem.provider": "A model has failed",
    "problem.refused": "The server has refused this",
    "problem.settings": "A setting cannot be used",
    "problem.source": "A file or folder cannot be read",
    "problem.timeout": "The request did not arrive in time",
    "problem.too_large": "The request is too large",
    "problem.too_many_requests": "There are too many requests",
    "problem.too_slow": "The time limit was exceeded",
    "problem.store": "The vector store refuses something",
    "problem.store_away": "The vector store cannot be reached",
    "problem.unauthorized": "A token is required",
    "problem.unsupported_media_type": "Unsupported media type",
    "problem.usage": "The question cannot be understood",
    "problem.worker_died": "The process that worked on this has died",
    "problem.unknown": "Something did not work",

    "kind.class": "class",
    "kind.component": "component",
    "kind.constant": "constant",
    "kind.enum": "enum",
    "kind.function": "function",
    "kind.import": "import",
    "kind.interface": "interface",
    "kind.macro": "macro",
    "kind.method": "method",
    "kind.module": "module",
    "kind.section": "section",
    "kind.struct": "struct",
    "kind.text": "text",
    "kind.trait": "trait",
    "kind.type": "type",
    "kind.variable": "variable",
  },
  {
    "problem.bad_request": "请求无效",
    "problem.busy": "服务器正忙",
    "problem.closed": "不能在这里更改",
    "problem.conflict": "与已有内容冲突",
    "problem.crashed": "运行意外结束",
    "problem.damaged": "索引已损坏",
    "problem.forbidden": "不允许此操作",
    "problem.index": "无法读写索引",
    "problem.indexing": "正在建立该项目的索引",
    "problem.internal": "服务器内部错误",
    "problem.interrupted": "运行被中断",
    "problem.invalid": "请求中的值不正确",
    "problem.left": "已取消：客户端已断开连接",
    "problem.locked": "另一个程序正在写入此索引",
    "problem.method_not_allowed": "服务器不支持此操作",
    "problem.mismatch": "索引由另一个模型生成",
    "problem.no_grammar": "有一种语言无法解析",
    "problem.moved": "项目文件夹已移动",
    "problem.not_found": "不存在",
    "problem.not_indexed": "该项目还没有索引",
    "problem.not_installed": "服务器缺少一个库",
    "problem.provider": "模型出错",
    "problem.refused": "服务器拒绝了请求",
    "problem.settings": "某项设置无法使用",
    "problem.source": "无法读取文件或文件夹",
    "problem.timeout": "请求未能及时到达",
    "problem.too_large": "请求过大",
    "problem.too_many_requests": "请求过多",
    "problem.too_slow": "超过了时间限制",
    "problem.store": "向量存储拒绝了请求",
    "problem.store_away": "无法连接向量存储",
    "problem.unauthorized": "需要令牌",
    "problem.unsupported_media_type": "服务器不支持这种格式",
    "problem.usage": "无法理解这个问题",
    "problem.worker_died": "处理此请求的进程已终止",
    "problem.unknown": "操作未成功",

    "kind.class": "类",
    "kind.component": "组件",
    "kind.constant": "常量",
    "kind.enum": "枚举",
    "kind.function": "函数",
    "kind.import": "导入",
    "kind.interface": "接口",
    "kind.macro": "宏",
    "kind.method": "方法",
    "kind.module": "模块",
    "kind.section": "章节",
    "kind.struct": "结构体",
    "kind.text": "文本",
    "kind.trait": "特征",
    "kind.type": "类型",
    "kind.variable": "变量",
  },
);

/** Phrases of the server, in English as it writes them and in Chinese; `{}` stands for a value. */
export const PHRASES: readonly (readonly [string, string])[] = [
  ["{} matches, the first in line {}", "{} 处匹配，第一处在第 {} 行"],
  ["1 match, in line {}", "1 处匹配，在第 {} 行"],
  ["calls it", "调用它"],
  ["calls it {} times", "调用它 {} 次"],
  ["uses it", "使用它"],
  ["uses it {} times", "使用它 {} 次"],
  ["imports it", "导入它"],
  ["is called there", "在那里被调用"],
  ["is imported there", "在那里被导入"],
  ["inside the scope of the question", "在问题限定的范围内"],
  ["tells what the project is for", "说明项目的用途"],
  ["in the stack trace", "在堆栈跟踪中"],
  ["defines {}", "定义 {}"],
  ["named {}", "名称 {}"],
  ["file {}", "文件 {}"],
  ["mentions {}", "提到 {}"],
  ["close in meaning", "含义相近"],
  ["weak evidence only", "只有较弱的依据"],
  // Places in documents.
  ["page {}", "第 {} 页"],
  ["pages {}", "第 {} 页"],
  ["cell {}", "第 {} 个单元格"],
  ["cells {}", "第 {} 个单元格"],
  ["paragraph {}", "第 {} 段"],
  ['heading "{}"', "标题“{}”"],
  // Of the parts of the service.
  ["{} running, {} waiting, {} failed", "{} 个运行中，{} 个等待中，{} 个失败"],
  ["{} registered", "已登记 {} 个"],
  ["none is configured", "未配置"],
  ["answers consist of excerpts", "回答由摘录组成"],
  ["for written answers, set llm.model, for example to {}", "若要以文字回答，请设置 llm.model，例如 {}"],
  ["{} answered in {} ms with {} dimensions", "{} 在 {} 毫秒内应答，{} 维"],
  ["{} answered in {} s", "{} 在 {} 秒内应答"],
  ["{} answered in {} s as {}", "{} 在 {} 秒内以 {} 应答"],
  ["model for {}", "{} 所用的模型"],
  ["embedding model", "向量模型"],
  ["reranking model", "重排模型"],
  ["language model", "语言模型"],
];

interface Phrase {
  readonly pattern: RegExp;
  readonly translation: string;
}

/** Those with most words first: "{} answered in {} s as {}" fits before "{} answered in {} s". */
const COMPILED: readonly Phrase[] = [...PHRASES]
  .sort(([one], [other]) => other.replaceAll("{}", "").length - one.replaceAll("{}", "").length)
  .map(([english, translation]) => ({
    pattern: new RegExp(`^${english.split("{}").map(escaped).join("(.+?)")}$`, "s"),
    translation,
  }));

/** Returns a text of the server in Chinese: phrase by phrase; undefined where one of them is not known. */
export function inChinese(text: string): string | undefined {
  const parts = text.split("; ").map(phraseInChinese);
  return parts.every((part) => part !== undefined) ? parts.join("；") : undefined;
}

function phraseInChinese(text: string): string | undefined {
  for (const { pattern, translation } of COMPILED) {
    const values = pattern.exec(text)?.slice(1);
    if (values) return translation.replace(/\{\}/g, () => values.shift() ?? "");
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
