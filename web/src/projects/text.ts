import { texts } from "../i18n/texts";

export const projectsText = texts(
  {
    "projects.title": "Projects",
  },
  {
    "projects.title": "项目",
  },
);
