import { texts } from "../i18n/texts";

export const viewerText = texts(
  {
    "viewer.title": "Code",
    "viewer.close": "Close the viewer",
    "viewer.files": "Files",
    "viewer.outline": "Outline",
    "viewer.copy": "Copy the place",
    "viewer.copied": "Copied",
    "viewer.lines": "{n} {n|line|lines}",
    "viewer.empty": "This file is empty.",
    "viewer.no-symbols": "No definition was found in this file.",
    "viewer.further": "Go on reading",
    "viewer.long": "Only lines {from} to {to} of {n} are shown.",
    "viewer.width": "Width of the viewer",
    "viewer.place": "Open {path}, lines {lines}",
  },
  {
    "viewer.title": "代码",
    "viewer.close": "关闭查看器",
    "viewer.files": "文件",
    "viewer.outline": "大纲",
    "viewer.copy": "复制位置",
    "viewer.copied": "已复制",
    "viewer.lines": "{n} 行",
    "viewer.empty": "此文件为空。",
    "viewer.no-symbols": "此文件中没有找到定义。",
    "viewer.further": "继续阅读",
    "viewer.long": "共 {n} 行，只显示第 {from} 到 {to} 行。",
    "viewer.width": "查看器宽度",
    "viewer.place": "打开 {path}，第 {lines} 行",
  },
);
