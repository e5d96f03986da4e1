import { Link } from "react-router";
import { useText } from "./i18n";
import { Message } from "./parts";

/** What is shown for an address that leads nowhere. */
export function Missing() {
  const t = useText();
  return (
    <Message level="h1" title={t("shell.missing")} detail={t("shell.missing.hint")}>
      <Link to="/">{t("shell.home")}</Link>
    </Message>
  );
}
