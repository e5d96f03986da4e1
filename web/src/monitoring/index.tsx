import { useText } from "../i18n";

export default function MonitoringPage() {
  const t = useText();
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t("monitoring.title")}</h1>
      </header>
    </div>
  );
}
