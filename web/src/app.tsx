import { ConfigProvider } from "antd";
import english from "antd/locale/en_US";
import { lazy, Suspense, useState } from "react";
import { BrowserRouter, Route, Routes } from "react-router";
import { FirstPage } from "./first-page";
import { LanguageProvider, useLanguage } from "./i18n";
import { chineseWords } from "./i18n/words";
import { Missing } from "./missing";
import { Loading } from "./parts";
import { remember, remembered } from "./remembered";
import { ROOT_PATH } from "./root-path";
import { SessionProvider } from "./session";
import { Shell } from "./shell";
import { SIGN_IN_PROBLEM, SignInFailed } from "./sign-in";
import { type Choice, themeOf, useAppearance, useIsStill } from "./theme";
import { TokenGate } from "./token-gate";

const ChatPage = lazy(() => import("./chat"));
const SearchPage = lazy(() => import("./search"));
const ProjectsPage = lazy(() => import("./projects"));
const ProjectPage = lazy(() => import("./project"));
const MonitoringPage = lazy(() => import("./monitoring"));
const PeoplePage = lazy(() => import("./people"));

export function App() {
  return (
    <LanguageProvider>
      <Themed />
    </LanguageProvider>
  );
}

function Themed() {
  const { language } = useLanguage();
  const [choice, setChoice] = useState<Choice>(() => choiceOf(remembered("theme")));
  const appearance = useAppearance(choice);
  const isStill = useIsStill();
  const choose = (next: Choice) => {
    remember("theme", next === "system" ? "" : next);
    setChoice(next);
  };
  return (
    <ConfigProvider
      theme={themeOf(appearance, isStill)}
      locale={(language === "zh" && chineseWords()?.locale) || english}
    >
      <BrowserRouter basename={ROOT_PATH || "/"}>
        <Pages theme={choice} onTheme={choose} />
      </BrowserRouter>
    </ConfigProvider>
  );
}

function Pages({ theme, onTheme }: { readonly theme: Choice; readonly onTheme: (choice: Choice) => void }) {
  // With another token everything is loaded anew.
  const [session, setSession] = useState(0);
  return (
    <SessionProvider key={session}>
      <Shell theme={theme} onTheme={onTheme}>
        <Suspense fallback={<Loading />}>
          <Routes>
            <Route index element={<FirstPage />} />
            <Route path="chat" element={<ChatPage />} />
            <Route path="chat/:conversationId" element={<ChatPage />} />
            <Route path="search" element={<SearchPage />} />
            <Route path="projects" element={<ProjectsPage />} />
            <Route path="project/:projectId" element={<ProjectPage />} />
            <Route path="monitoring" element={<MonitoringPage />} />
            <Route path="people" element={<PeoplePage />} />
            <Route
              path="sign-in/*"
              element={SIGN_IN_PROBLEM ? <SignInFailed problem={SIGN_IN_PROBLEM} /> : <Missing />}
            />
            <Route path="*" element={<Missing />} />
          </Routes>
        </Suspense>
      </Shell>
      <TokenGate onToken={() => setSession((before) => before + 1)} />
    </SessionProvider>
  );
}

function choiceOf(kept: string): Choice {
  return kept === "light" || kept === "dark" ? kept : "system";
}
