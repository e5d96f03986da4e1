import { texts } from "../i18n/texts";

export const monitoringText = texts(
  {
    "monitoring.title": "Monitoring",
  },
  {
    "monitoring.title": "监控",
  },
);
