import { App, Button, Tag } from "antd";
import { lazy, Suspense } from "react";
import { get, remove, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import { useFailure } from "../projects/failure";

// The list is there before the form.
const MakeToken = lazy(() => import("./make-token"));

type Token = Schemas["TokenOut"];
const COLOURS: Readonly<Record<Token["state"], string>> = { valid: "success", expired: "warning", revoked: "default" };

/** The tokens of programs, and the form that makes one. */
export function Tokens() {
  const t = useText();
  const tokens = useLoad((signal) => get<Schemas["TokensOut"]>("/tokens", undefined, signal), []);
  if (tokens.problem && !tokens.value) return <Trouble problem={tokens.problem} onRetry={tokens.reload} />;
  if (!tokens.value) return <Loading />;
  return (
    <section className="panel block">
      <h2>{t("people.tokens")}</h2>
      {tokens.value.tokens.length === 0 && <p className="soft">{t("people.tokens.none")}</p>}
      {tokens.value.tokens.length > 0 && (
        <div className="people-table" tabIndex={0} role="region" aria-label={t("people.tokens")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("people.token.name")}</th>
                <th scope="col">{t("people.token.role")}</th>
                <th scope="col">{t("people.token.projects")}</th>
                <th scope="col">{t("people.token.ends")}</th>
                <th scope="col">{t("people.token.made-by")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {tokens.value.tokens.map((token) => (
                <Row key={token.id || `settings ${token.name}`} token={token} onChange={tokens.reload} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Suspense fallback={null}>
        <MakeToken onMade={tokens.reload} />
      </Suspense>
    </section>
  );
}

function Row({ token, onChange }: { readonly token: Token; readonly onChange: () => void }) {
  const t = useText();
  const format = useFormat();
  const fail = useFailure();
  const { modal } = App.useApp();
  const ask = () =>
    modal.confirm({
      title: t("people.token.revoke.title", { name: token.name }),
      content: t("people.token.revoke.hint"),
      okText: t("people.token.revoke"),
      okButtonProps: { danger: true },
      cancelText: t("people.token.revoke.no"),
      autoFocusButton: "cancel",
      onOk: () => remove(`/tokens/${encodeURIComponent(token.id)}`).then(onChange, fail),
    });
  return (
    <tr>
      <th scope="row">
        {token.name} <Tag color={COLOURS[token.state]}>{t(`people.token.${token.state}`)}</Tag>
      </th>
      <td>{t(`people.role.${token.role}`)}</td>
      <td>{token.projects.join(", ") || t("people.token.projects.all")}</td>
      <td>{token.expires_at === null ? t("people.token.never") : format.date(token.expires_at)}</td>
      <td>{token.origin === "settings" ? t("people.token.settings") : token.made_by}</td>
      <td>
        {token.origin === "server" && token.state === "valid" && (
          <Button size="small" danger onClick={ask} aria-label={t("people.token.revoke.of", { name: token.name })}>
            {t("people.token.revoke")}
          </Button>
        )}
      </td>
    </tr>
  );
}
