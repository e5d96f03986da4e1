import { Button, Input, Modal } from "antd";
import { type FormEvent, useEffect, useId, useState } from "react";
import { keepToken, onUnauthorized } from "./api/client";
import { useText } from "./i18n";
import { Worded } from "./parts";

/** Asks for the token when the server refuses a request without a good one. */
export function TokenDialog({ onToken }: { readonly onToken: () => void }) {
  const t = useText();
  const id = useId();
  const [asked, setAsked] = useState<"no" | "first" | "again">("no");
  const [token, setToken] = useState("");
  useEffect(() => onUnauthorized((hadToken) => setAsked(hadToken ? "again" : "first")), []);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    keepToken(token);
    setToken("");
    setAsked("no");
    onToken();
  };
  return (
    <Modal open={asked !== "no"} title={t("shell.token.title")} footer={null} closable={false} destroyOnHidden>
      <form onSubmit={save}>
        <p className="soft">
          <Worded text="shell.token.explain" />
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
          autoFocus
        />
        <p id={`${id}-wrong`} role="alert" style={{ color: "var(--bad)", minHeight: "1.5em", margin: "6px 0" }}>
          {asked === "again" && t("shell.token.wrong")}
        </p>
        <Button type="primary" htmlType="submit" block disabled={!token.trim()}>
          {t("shell.token.save")}
        </Button>
      </form>
    </Modal>
  );
}
