import { DesktopOutlined, MoonOutlined, SettingOutlined, SunOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { lazy, type ReactNode, Suspense } from "react";
import { NavLink, useLocation } from "react-router";
import { FindButton } from "./find/button";
import { type Key, LANGUAGES, type Language, useLanguage, useText } from "./i18n";
import mark from "./mark.svg";
import { Boundary } from "./parts";
import { useMenuPages } from "./pages";
import { Who } from "./people/who";
import type { Choice } from "./theme";
import { usePlaces } from "./viewer/place";
import "./shell.css";

const CodeViewer = lazy(() => import("./viewer"));

const THEMES: readonly { readonly choice: Choice; readonly name: Key; readonly icon: ReactNode }[] = [
  { choice: "system", name: "shell.theme.system", icon: <DesktopOutlined aria-hidden /> },
  { choice: "light", name: "shell.theme.light", icon: <SunOutlined aria-hidden /> },
  { choice: "dark", name: "shell.theme.dark", icon: <MoonOutlined aria-hidden /> },
];

interface ThemeProps {
  readonly theme: Choice;
  readonly onTheme: (choice: Choice) => void;
}

/** What stands around every page: the menu, how it looks, and the viewer beside it. */
export function Shell({ children, ...theme }: ThemeProps & { readonly children: ReactNode }) {
  const t = useText();
  const { pathname } = useLocation();
  const { place, close } = usePlaces();
  const pages = useMenuPages();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t("shell.skip")}
      </a>
      <header className="shell-bar">
        <NavLink to="/" className="brand">
          <img src={mark} alt="" width={28} height={28} />
          <span>Codefathom</span>
        </NavLink>
        <FindButton onTheme={theme.onTheme} />
        <nav className="menu" aria-label={t("shell.menu")}>
          {pages.map((page) => (
            <NavLink key={page.path} to={page.path}>
              {page.icon}
              <span>{t(page.name)}</span>
            </NavLink>
          ))}
        </nav>
        <Who />
        <Choices {...theme} />
      </header>
      <main id="content" className="shell-page" tabIndex={-1}>
        <Boundary key={pathname.split("/")[1]}>{children}</Boundary>
      </main>
      {place && (
        <Boundary key={place.projectId}>
          <Suspense fallback={null}>
            <CodeViewer {...place} onClose={close} />
          </Suspense>
        </Boundary>
      )}
    </div>
  );
}

/** Theme and language: open where there is room, else behind a button. */
function Choices(theme: ThemeProps) {
  const t = useText();
  return (
    <>
      <div className="choices choices-open">
        <ThemeChoice {...theme} />
        <LanguageChoice />
      </div>
      <Button
        className="choices-button"
        type="text"
        icon={<SettingOutlined />}
        aria-label={`${t("shell.theme")}, ${t("shell.language")}`}
        popoverTarget="choices"
      />
      <div id="choices" popover="auto" className="choices choices-popped">
        <ThemeChoice {...theme} name="popped-theme" />
        <LanguageChoice name="popped-language" />
      </div>
    </>
  );
}

function ThemeChoice({ theme, onTheme, name = "theme" }: ThemeProps & { readonly name?: string }) {
  const t = useText();
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">{t("shell.theme")}</legend>
      {THEMES.map((item) => (
        <label key={item.choice} title={t(item.name)}>
          <input
            type="radio"
            name={name}
            aria-label={t(item.name)}
            checked={theme === item.choice}
            onChange={() => onTheme(item.choice)}
          />
          <span aria-hidden>{item.icon}</span>
        </label>
      ))}
    </fieldset>
  );
}

function LanguageChoice({ name = "language" }: { readonly name?: string }) {
  const t = useText();
  const { wanted, choose } = useLanguage();
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">{t("shell.language")}</legend>
      {LANGUAGES.map((item) => (
        <label key={item.code} lang={tagOf(item.code)}>
          <input type="radio" name={name} checked={wanted === item.code} onChange={() => choose(item.code)} />
          <span>{item.name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function tagOf(code: Language): string {
  return code === "zh" ? "zh-CN" : "en";
}
