import { useText } from "../i18n";

export default function ChatPage() {
  const t = useText();
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t("chat.title")}</h1>
      </header>
    </div>
  );
}
