import { CheckOutlined, CopyOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useEffect, useState } from "react";
import { useText } from "../i18n";

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly className?: string;
}

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text, label, className }: CopyButtonProps) {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1_800);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void copied(text).then(setCopied);
  return (
    <Button
      type="text"
      size="small"
      className={className}
      icon={isCopied ? <CheckOutlined /> : <CopyOutlined />}
      aria-label={isCopied ? t("chat.copied") : label}
      title={label}
      onClick={copy}
    />
  );
}

/** Copies a text; also where the page does not come over https and the browser offers no clipboard. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}
