import { theme as antd, type ThemeConfig } from "antd";
import { useEffect } from "react";
import { useMedia } from "./media";

export type Appearance = "light" | "dark";
export type Choice = Appearance | "system";

const SANS =
  'system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const MONO =
  'ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The colours of both themes. `styles.css` has the same as variables. */
const PALETTES = {
  light: {
    accent: "#0b7268",
    canvas: "#f5f7f7",
    surface: "#ffffff",
    raised: "#ffffff",
    line: "#dfe5e5",
    lineSoft: "#e9eeee",
    ink: "#14211f",
    inkSoft: "#52615f",
    inkFaint: "#5d6b69",
    ok: "#12693c",
    warn: "#9a5b00",
    bad: "#c02f36",
    accentSoft: "#e0f1ee",
    okSoft: "#e2f4ea",
    warnSoft: "#fdf1dc",
    badSoft: "#fdeaea",
    onAccent: "#ffffff",
  },
  dark: {
    accent: "#3fcdb9",
    canvas: "#0d1314",
    surface: "#141c1d",
    raised: "#1a2425",
    line: "#2a3738",
    lineSoft: "#212c2d",
    ink: "#e4eceb",
    inkSoft: "#a3b3b1",
    inkFaint: "#8b9c9a",
    ok: "#56c98c",
    warn: "#e0a94a",
    bad: "#ff7b7d",
    accentSoft: "#123833",
    okSoft: "#11301f",
    warnSoft: "#33260d",
    badSoft: "#3a1819",
    onAccent: "#04211d",
  },
} as const;

/** Returns the theme of the components for light or dark. */
export function themeOf(appearance: Appearance, isStill: boolean): ThemeConfig {
  const colours = PALETTES[appearance];
  return {
    algorithm: appearance === "dark" ? antd.darkAlgorithm : antd.defaultAlgorithm,
    cssVar: { key: `fathom-${appearance}` },
    hashed: false,
    token: {
      motion: !isStill,
      colorPrimary: colours.accent,
      colorInfo: colours.accent,
      colorLink: colours.accent,
      colorSuccess: colours.ok,
      colorWarning: colours.warn,
      colorError: colours.bad,
      colorInfoBg: colours.accentSoft,
      colorSuccessBg: colours.okSoft,
      colorWarningBg: colours.warnSoft,
      colorErrorBg: colours.badSoft,
      colorBgLayout: colours.canvas,
      colorBgContainer: colours.surface,
      colorBgElevated: colours.raised,
      colorBorder: colours.line,
      colorBorderSecondary: colours.lineSoft,
      colorText: colours.ink,
      colorTextSecondary: colours.inkSoft,
      colorTextTertiary: colours.inkSoft,
      colorTextDescription: colours.inkSoft,
      colorTextPlaceholder: colours.inkFaint,
      colorTextQuaternary: colours.inkFaint,
      colorTextLightSolid: colours.onAccent,
      borderRadius: 8,
      fontFamily: SANS,
      fontFamilyCode: MONO,
      fontSize: 14,
      controlHeight: 34,
      wireframe: false,
    },
    components: {
      Button: { primaryShadow: "none", defaultShadow: "none", dangerShadow: "none", primaryColor: colours.onAccent },
      Card: { headerFontSize: 15 },
      Tag: { defaultBg: "transparent" },
      Tooltip: { colorTextLightSolid: "#ffffff", colorBgSpotlight: appearance === "dark" ? "#35474a" : "#22302f" },
    },
  };
}

/** Returns the theme to show: the one that was chosen, else that of the system, also while that changes. */
export function useAppearance(choice: Choice): Appearance {
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const appearance = choice === "system" ? (isDark ? "dark" : "light") : choice;
  useEffect(() => {
    document.documentElement.dataset.theme = appearance;
  }, [appearance]);
  return appearance;
}

/** Whether nothing should move. */
export const useIsStill = () => useMedia("(prefers-reduced-motion: reduce)");
