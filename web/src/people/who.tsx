import { LogoutOutlined, UserOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { keepToken } from "../api/client";
import { useText } from "../i18n";
import { remembered } from "../remembered";
import { useSession } from "../session";
import { signOut } from "../sign-in";
import "./people.css";

/** Who has signed in, and the way out. */
export function Who() {
  const t = useText();
  const session = useSession();
  if (!session?.name) return null;
  const said = t("people.signed-in", { name: session.name });
  const leave = () => {
    keepToken("");
    window.location.reload();
  };
  return (
    <div className="who" title={`${said} (${t(`people.role.${session.role}`)})`}>
      <UserOutlined aria-hidden />
      <span>{said}</span>
      {session.may_sign_out && (
        <Button
          size="small"
          type="text"
          icon={<LogoutOutlined />}
          aria-label={t("people.sign-out.session")}
          title={t("people.sign-out.session")}
          onClick={() => void signOut()}
        />
      )}
      {!session.may_sign_out && remembered("token") && (
        <Button
          size="small"
          type="text"
          icon={<LogoutOutlined />}
          aria-label={t("people.sign-out")}
          title={t("people.sign-out")}
          onClick={leave}
        />
      )}
    </div>
  );
}
