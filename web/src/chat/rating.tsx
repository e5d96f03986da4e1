import { DislikeFilled, DislikeOutlined, LikeFilled, LikeOutlined } from "@ant-design/icons";
import { App, Button, Input } from "antd";
import { type FormEvent, useId, useState } from "react";
import { asProblem, put, remove } from "../api/client";
import { useText } from "../i18n";
import type { Answer, Rating } from "./answer";

const MOST_CHARACTERS = 2_000;

/** Thumbs up or down for an answer, with a comment that administrators read. */
export function RatingButtons({ answer }: { readonly answer: Answer }) {
  const t = useText();
  const { message } = App.useApp();
  const [rating, setRating] = useState<Rating | undefined>(answer.rating);
  const [isOpen, setOpen] = useState(false);
  const path = `/conversations/${answer.conversationId}/ratings/${answer.id}`;
  const save = async (next: Rating | undefined) => {
    try {
      await (next ? put(path, next) : remove(path));
      setRating(next);
      return true;
    } catch (error) {
      message.error(asProblem(error).detail);
      return false;
    }
  };
  const choose = async (verdict: Rating["verdict"]) => {
    const next = rating?.verdict === verdict ? undefined : { verdict, comment: rating?.comment ?? "" };
    if (await save(next)) setOpen(next !== undefined);
  };
  const send = async (comment: string) => {
    if (rating && (await save({ ...rating, comment }))) {
      setOpen(false);
      message.success(t("chat.rating.thanks"));
    }
  };
  return (
    <>
      <span className="rating" role="group" aria-label={t("chat.rating")}>
        <Button
          type="text"
          size="small"
          icon={rating?.verdict === "good" ? <LikeFilled /> : <LikeOutlined />}
          aria-label={t("chat.rating.good")}
          title={t("chat.rating.good")}
          aria-pressed={rating?.verdict === "good"}
          onClick={() => void choose("good")}
        />
        <Button
          type="text"
          size="small"
          icon={rating?.verdict === "bad" ? <DislikeFilled /> : <DislikeOutlined />}
          aria-label={t("chat.rating.bad")}
          title={t("chat.rating.bad")}
          aria-pressed={rating?.verdict === "bad"}
          onClick={() => void choose("bad")}
        />
      </span>
      {isOpen && rating && <Comment rating={rating} onSend={send} onLeave={() => setOpen(false)} />}
    </>
  );
}

interface CommentProps {
  readonly rating: Rating;
  readonly onSend: (comment: string) => Promise<void>;
  readonly onLeave: () => void;
}

function Comment({ rating, onSend, onLeave }: CommentProps) {
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
