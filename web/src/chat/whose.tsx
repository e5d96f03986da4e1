import { Segmented } from "antd";
import { useText } from "../i18n";

interface WhoseProps {
  readonly isOfOthers: boolean;
  readonly onChoose: (isOfOthers: boolean) => void;
}

/** Whether one's own conversations are listed, or those that others share. */
export default function Whose({ isOfOthers, onChoose }: WhoseProps) {
  const t = useText();
  return (
    <Segmented
      block
      size="small"
      aria-label={t("chat.whose")}
      value={isOfOthers ? "shared" : "own"}
      onChange={(whose) => onChoose(whose === "shared")}
      options={[
        { value: "own", label: t("chat.whose.own") },
        { value: "shared", label: t("chat.whose.shared") },
      ]}
    />
  );
}
