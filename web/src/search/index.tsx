import { useText } from "../i18n";

export default function SearchPage() {
  const t = useText();
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t("search.title")}</h1>
      </header>
    </div>
  );
}
