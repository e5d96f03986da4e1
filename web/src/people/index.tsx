import { useText } from "../i18n";
import { withMessages } from "../with-messages";
import { Audit } from "./audit";
import { Ratings } from "./ratings";
import { Tokens } from "./token-list";
import "./people.css";

/** For administrators: the tokens of programs, and who did what. */
function PeoplePage() {
  const t = useText();
  return (
    <div className="page people-page">
      <header className="page-head">
        <h1>{t("people.title")}</h1>
      </header>
      <Tokens />
      <Ratings />
      <Audit />
    </div>
  );
}

export default withMessages(PeoplePage);
