import { Button, Input, Modal } from "antd";
import { type FormEvent, useEffect, useId, useState } from "react";
import { keepToken, onUnauthorized, type Refusal } from "./api/client";
import { useText } from "./i18n";
import { Worded } from "./parts";
import { remembered } from "./remembered";
import { SIGN_IN_PROBLEM, SignInButton, signIn } from "./sign-in";

/** Leads to where people sign in, or asks for the token, when the server refuses a request without either. */
export function TokenDialog({ onToken }: { readonly onToken: () => void }) {
  const t = useText();
  const id = useId();
  const [asked, setAsked] = useState<"no" | "first" | "again">("no");
  const [canSignIn, setCanSignIn] = useState(false);
  const [token, setToken] = useState("");
  useEffect(() => {
    const refused = (refusal: Refusal) => {
      if (SIGN_IN_PROBLEM) return;
      // Who has signed out is not signed in again unasked, and a token that was typed may be corrected.
      if (refusal.canSignIn && !refusal.hadToken && !remembered("signed-out")) return signIn();
      setCanSignIn(refusal.canSignIn);
      setAsked(refusal.hadToken ? "again" : "first");
    };
    return onUnauthorized(refused);
  }, []);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    keepToken(token);
    setToken("");
    setAsked("no");
    onToken();
  };
  return (
    <Modal
      open={asked !== "no"}
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
          status={asked === "again" ? "error" : undefined}
          aria-describedby={`${id}-wrong`}
          autoComplete="off"
          autoFocus={!canSignIn}
        />
        <p id={`${id}-wrong`} role="alert" style={{ color: "var(--bad)", minHeight: "1.5em", margin: "6px 0" }}>
          {asked === "again" && t("shell.token.wrong")}
        </p>
        <Button type={canSignIn ? "default" : "primary"} htmlType="submit" block disabled={!token.trim()}>
          {t("shell.token.save")}
        </Button>
      </form>
    </Modal>
  );
}
