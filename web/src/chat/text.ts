import { texts } from "../i18n/texts";

export const chatText = texts(
  {
    "chat.title": "Chat",
  },
  {
    "chat.title": "对话",
  },
);
