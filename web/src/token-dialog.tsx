import { Button, Input, Modal } from "antd";
import { type FormEvent, useId, useState } from "react";
import { keepToken } from "./api/client";
import { useText } from "./i18n";
import { Worded } from "./parts";
import { SignInButton } from "./sign-in";

interface TokenDialogProps {
  /** People can sign in at the provider of this server, too. */
  readonly canSignIn: boolean;
  /** The server does not know the token that this browser has sent. */
  readonly isWrong: boolean;
  readonly onKept: () => void;
}

/** Leads to where people sign in, or asks for a token, and keeps it in this browser. */
export default function TokenDialog({ canSignIn, isWrong, onKept }: TokenDialogProps) {
  const t = useText();
  const id = useId();
  const [token, setToken] = useState("");
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    keepToken(token);
    setToken("");
    onKept();
  };
  return (
    <Modal
      open
      title={t(canSignIn ? "shell.sign-in.title" : "shell.token.title")}
      footer={null}
      closable={false}
      destroyOnHidden
    >
      {canSignIn && <SignInButton />}
      <form onSubmit={save}>
        <p className="soft">
          <Worded text={canSignIn ? "shell.sign-in.or-token" : "shell.token.explain"} />
        </p>
        <label htmlFor={id} className="visually-hidden">
          {t("shell.token.label")}
        </label>
        <Input.Password
          id={id}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          placeholder="fathom_…"
          status={isWrong ? "error" : undefined}
          aria-describedby={`${id}-wrong`}
          autoComplete="off"
          autoFocus={!canSignIn}
        />
        <p id={`${id}-wrong`} role="alert" style={{ color: "var(--bad)", minHeight: "1.5em", margin: "6px 0" }}>
          {isWrong && t("shell.token.wrong")}
        </p>
        <Button type={canSignIn ? "default" : "primary"} htmlType="submit" block disabled={!token.trim()}>
          {t("shell.token.save")}
        </Button>
      </form>
    </Modal>
  );
}
