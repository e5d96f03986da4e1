import { ExportOutlined } from "@ant-design/icons";
import { Button, Dropdown } from "antd";
import { useState } from "react";
import { useText } from "../i18n";
import type { Elsewhere } from "./editors";

/** The programs that can open a place; the list is open at once, as its button was pressed to load it. */
export default function ElsewhereMenu({ found }: { readonly found: readonly Elsewhere[] }) {
  const t = useText();
  const [isOpen, setOpen] = useState(true);
  const items = found.map(({ name, address }) => ({
    key: name,
    label: (
      <a href={address} {...(address.startsWith("https:") && { target: "_blank", rel: "noreferrer" })}>
        {t("search.open-in", { program: name })}
      </a>
    ),
  }));
  return (
    <Dropdown menu={{ items }} trigger={["click"]} open={isOpen} onOpenChange={setOpen}>
      <Button
        size="small"
        type="text"
        icon={<ExportOutlined />}
        aria-label={t("search.elsewhere")}
        title={t("search.elsewhere")}
        autoFocus
      />
    </Dropdown>
  );
}
