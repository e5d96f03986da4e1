import { Drawer, Tabs } from "antd";
import { useText } from "../i18n";
import { useIsKept, useMay } from "../session";
import { History } from "./history";
import { LeftOut } from "./left-out";
import type { Project } from "./listed";
import { Settings } from "./settings";
import { Store } from "./store";
import { isTab, type Tab, TABS } from "./tabs";
import { Watched } from "./watched";

interface DetailsProps {
  readonly project: Project | undefined;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

/** All that a card has no room for. */
export default function Details({ project, tab: wished, onTab, onChange, onClose }: DetailsProps) {
  const t = useText();
  const isKept = useIsKept();
  const may = useMay(project?.id ?? "");
  const tabs = TABS.filter((which) => (which === "settings" ? may("maintainer") : which !== "store" || !isKept));
  const tab = tabs.includes(wished) ? wished : tabs[0];
  const about = (which: Tab) => {
    if (!project || which !== tab) return null;
    if (which === "left-out") return <LeftOut key={project.id} project={project} />;
    if (which === "settings") return <Settings key={project.id} project={project} onChange={onChange} />;
    if (which === "store") return <Store key={project.id} project={project} />;
    return (
      <>
        <Watched key={`watched ${project.id}`} project={project} />
        <History key={project.id} project={project} />
      </>
    );
  };
  return (
    <Drawer
      open={project !== undefined}
      title={project?.name}
      aria-label={t("projects.details", { name: project?.name ?? "" })}
      closable={{ "aria-label": t("projects.close") }}
      size={640}
      destroyOnHidden
      onClose={onClose}
    >
      <Tabs
        activeKey={tab}
        onChange={(key) => isTab(key) && onTab(key)}
        items={tabs.map((which) => ({ key: which, label: t(`projects.${which}`), children: about(which) }))}
      />
    </Drawer>
  );
}
