import { FolderAddOutlined, PlusOutlined } from "@ant-design/icons";
import { Alert, Button } from "antd";
import { lazy, Suspense, useRef } from "react";
import { useSearchParams } from "react-router";
import { useText } from "../i18n";
import { Loading, Message, Trouble } from "../parts";
import { useIsKept } from "../session";
import { useTitle } from "../title";
import { withMessages } from "../with-messages";
import { Card } from "./card";
import { useProjects } from "./listed";
import { isTab, type Tab } from "./tabs";
import "./projects.css";
import "./details.css";

// The list is there before what is opened beside it.
const Add = lazy(() => import("./add"));
const Details = lazy(() => import("./details"));

function ProjectsPage() {
  const t = useText();
  const { value: projects, problem, reload } = useProjects();
  const opened = useOpened();
  useTitle(t("projects.title"));
  const isKept = useIsKept();
  const detailed = projects?.find((project) => project.id === opened.about);
  const addsOnce = useOnce(opened.isAdding && !isKept);
  const detailsOnce = useOnce(detailed !== undefined);
  if (!projects) return problem ? <Trouble problem={problem} onRetry={reload} /> : <Loading />;
  return (
    <div className="page projects-page">
      <header className="page-head">
        <h1>{t("projects.title")}</h1>
        {projects.length > 0 && !isKept && (
          <Button type="primary" icon={<PlusOutlined />} onClick={opened.add}>
            {t("projects.add")}
          </Button>
        )}
      </header>
      {problem?.isOffline && <Alert className="away" type="warning" showIcon title={t("projects.away")} />}
      {projects.length === 0 && (
        <Message
          icon={<FolderAddOutlined />}
          title={t("projects.none")}
          hint={t(isKept ? "projects.none.kept" : "projects.none.hint")}
        >
          {!isKept && (
            <Button type="primary" icon={<PlusOutlined />} onClick={opened.add}>
              {t("projects.add")}
            </Button>
          )}
        </Message>
      )}
      <ul className="cards" aria-label={t("projects.list")}>
        {projects.map((project) => (
          <Card
            key={project.id}
            project={project}
            round={projects}
            onChange={reload}
            onDetails={(tab) => opened.details(project.id, tab)}
          />
        ))}
      </ul>
      <Suspense fallback={null}>
        {addsOnce && <Add isOpen={opened.isAdding && !isKept} onClose={opened.close} onAdded={reload} />}
      </Suspense>
      <Suspense fallback={null}>
        {detailsOnce && (
          <Details
            project={detailed}
            tab={opened.tab}
            onTab={(tab) => detailed && opened.details(detailed.id, tab, true)}
            onChange={reload}
            onClose={opened.close}
          />
        )}
      </Suspense>
    </div>
  );
}

/** True from the first time on: what has been opened stays, so that it can close in its own way. */
function useOnce(isNow: boolean): boolean {
  const was = useRef(false);
  was.current ||= isNow;
  return was.current;
}

/** What is open beside the list, kept in the address: `?add`, or `?about=shop&tab=settings`. */
function useOpened() {
  const [address, setAddress] = useSearchParams();
  const tab = address.get("tab") ?? "";
  return {
    isAdding: address.has("add"),
    about: address.get("about") ?? "",
    tab: isTab(tab) ? tab : ("left-out" as Tab),
    add: () => setAddress({ add: "" }),
    details: (about: string, chosen: Tab, replace = false) => setAddress({ about, tab: chosen }, { replace }),
    close: () => setAddress({}),
  };
}

export default withMessages(ProjectsPage);
