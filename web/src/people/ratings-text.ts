import { texts } from "../i18n/texts";

export const ratingsText = texts(
  {
    "ratings.title": "Ratings of answers",
    "ratings.counts": "{good} good, {bad} bad",
    "ratings.which": "Which ratings",
    "ratings.all": "all",
    "ratings.good": "good",
    "ratings.bad": "bad",
    "ratings.verdict": "Rating",
    "ratings.question": "Question and answer",
    "ratings.comment": "Comment",
    "ratings.by": "By",
    "ratings.when": "When",
    "ratings.more": "Show earlier ratings",
    "ratings.download": "Download as JSON",
  },
  {
    "ratings.title": "对回答的评价",
    "ratings.counts": "{good} 个好评，{bad} 个差评",
    "ratings.which": "显示哪些评价",
    "ratings.all": "全部",
    "ratings.good": "好",
    "ratings.bad": "不好",
    "ratings.verdict": "评价",
    "ratings.question": "问题和回答",
    "ratings.comment": "意见",
    "ratings.by": "评价者",
    "ratings.when": "时间",
    "ratings.more": "显示更早的评价",
    "ratings.download": "下载 JSON",
  },
);
