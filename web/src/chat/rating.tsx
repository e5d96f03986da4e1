import { DislikeFilled, DislikeOutlined, LikeFilled, LikeOutlined } from "@ant-design/icons";
import { App, Button } from "antd";
import { lazy, Suspense, useState } from "react";
import { asProblem, put, remove } from "../api/client";
import { useText } from "../i18n";
import type { Answer, Rating } from "./answer";

const RatingComment = lazy(() => import("./rating-comment"));

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
      {isOpen && rating && (
        <Suspense fallback={null}>
          <RatingComment rating={rating} onSend={send} onLeave={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
