import { EditOutlined, ReloadOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useText } from "../i18n";

export interface QuestionBubbleProps {
  readonly text: string;
  /** Asks the same again; none while something is being answered, and for readers. */
  readonly onAgain?: () => void;
  /** Puts the question where the next one is written. */
  readonly onEdit?: () => void;
}

/** A question, and what can be done with it. */
export function QuestionBubble({ text, onAgain, onEdit }: QuestionBubbleProps) {
  const t = useText();
  return (
    <div className="question">
      <h2 className="visually-hidden">{t("chat.asked")}</h2>
      <p>{text}</p>
      <div className="question-do">
        {onEdit && (
          <Button
            type="text"
            size="small"
            icon={<EditOutlined />}
            aria-label={t("chat.edit")}
            title={t("chat.edit")}
            onClick={onEdit}
          />
        )}
        {onAgain && (
          <Button
            type="text"
            size="small"
            icon={<ReloadOutlined />}
            aria-label={t("chat.same")}
            title={t("chat.same")}
            onClick={onAgain}
          />
        )}
      </div>
    </div>
  );
}
