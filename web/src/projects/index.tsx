import { useText } from "../i18n";

export default function ProjectsPage() {
  const t = useText();
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t("projects.title")}</h1>
      </header>
    </div>
  );
}
