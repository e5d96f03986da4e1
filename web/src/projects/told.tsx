import { CheckCircleFilled, InfoCircleFilled, WarningFilled } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useText } from "../i18n";
import type { Place } from "./adding";

interface ToldProps {
  readonly typed: string;
  readonly address: string;
  readonly place: Place | undefined;
  readonly isLooking: boolean;
}

/** Says what would become of what is typed. */
export function Told({ typed, address, place, isLooking }: ToldProps) {
  const t = useText();
  return (
    <div id="add-told" className="told" role="status">
      {told()}
    </div>
  );

  function told(): ReactNode {
    if (address) return line("is-info", <InfoCircleFilled />, t("projects.add.url"));
    if (isLooking) return <span className="soft">{t("projects.add.looking")}</span>;
    if (!place) return <span className="soft">{t("projects.add.path.hint")}</span>;
    if (!place.ok) return line("is-bad", <WarningFilled />, place.problem, place.hint);
    if (place.project_id) {
      return line("is-info", <InfoCircleFilled />, t("projects.add.known", { name: place.project_id }));
    }
    const isAround = place.root !== typed.trim().replace(/\/+$/, "") && !typed.trim().startsWith("~");
    const more = [
      isAround && t("projects.add.around", { root: place.root }),
      place.has_index && t("projects.add.has-index"),
    ];
    return line(
      "is-ok",
      <CheckCircleFilled />,
      t("projects.add.will-be", { name: place.name }),
      more.filter(Boolean).join(" "),
    );
  }

  function line(kind: string, icon: ReactNode, text: string, more?: ReactNode) {
    return (
      <div className={kind}>
        <span aria-hidden>{icon}</span>
        <div>
          {text}
          {more && <div className="soft">{more}</div>}
        </div>
      </div>
    );
  }
}
