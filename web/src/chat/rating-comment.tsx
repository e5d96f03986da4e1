import { Button, Input } from "antd";
import { type FormEvent, useId, useState } from "react";
import { useText } from "../i18n";
import type { Rating } from "./answer";

const MOST_CHARACTERS = 2_000;

interface CommentProps {
  readonly rating: Rating;
  readonly onSend: (comment: string) => Promise<void>;
  readonly onLeave: () => void;
}

/** Why an answer is rated as it is, for those who like to say so. */
export default function RatingComment({ rating, onSend, onLeave }: CommentProps) {
  const t = useText();
  const id = useId();
  const [comment, setComment] = useState(rating.comment ?? "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onSend(comment.trim());
  };
  return (
    <form className="rating-comment" onSubmit={submit}>
      <label htmlFor={id}>{t(rating.verdict === "good" ? "chat.rating.why-good" : "chat.rating.why-bad")}</label>
      <Input.TextArea
        id={id}
        value={comment}
        maxLength={MOST_CHARACTERS}
        autoSize={{ minRows: 2, maxRows: 6 }}
        onChange={(event) => setComment(event.target.value)}
      />
      <p className="soft">{t("chat.rating.explain")}</p>
      <div className="rating-do">
        <Button size="small" type="primary" htmlType="submit">
          {t("chat.rating.send")}
        </Button>
        <Button size="small" onClick={onLeave}>
          {t("chat.rating.no-comment")}
        </Button>
      </div>
    </form>
  );
}
