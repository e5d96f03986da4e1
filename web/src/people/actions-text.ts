import { texts } from "../i18n/texts";

/** What the list of who did what can say was done, by the words that the server keeps. */
export const actionsText = texts(
  {
    "signed in": "signed in",
    "signed out": "signed out",
    "token made": "token made",
    "token revoked": "token revoked",
    "project added": "project added",
    "project added and indexed": "project added and indexed",
    "project changed": "project changed",
    "project removed": "project removed",
    "index started": "index started",
    "index removed": "index removed",
    "job cancelled": "job cancelled",
    "watching started": "watching started",
    "watching stopped": "watching stopped",
    "store prepared": "store prepared",
    "store compared": "store compared",
    "vectors moved": "vectors moved",
    "vectors removed": "vectors removed",
    "backup written": "backup written",
    "backup restored": "backup restored",
  },
  {
    "signed in": "登录",
    "signed out": "退出登录",
    "token made": "创建令牌",
    "token revoked": "撤销令牌",
    "project added": "添加项目",
    "project added and indexed": "添加项目并建立索引",
    "project changed": "更改项目",
    "project removed": "移除项目",
    "index started": "开始索引",
    "index removed": "移除索引",
    "job cancelled": "取消任务",
    "watching started": "开始监视",
    "watching stopped": "停止监视",
    "store prepared": "准备存储",
    "store compared": "核对存储",
    "vectors moved": "移动向量",
    "vectors removed": "移除向量",
    "backup written": "写入备份",
    "backup restored": "恢复备份",
  },
);

export type AuditAction = keyof typeof actionsText.en;

/** Returns true for an action that this page knows; a newer server may write others. */
export function isKnownAction(action: string): action is AuditAction {
  return Object.hasOwn(actionsText.en, action);
}
