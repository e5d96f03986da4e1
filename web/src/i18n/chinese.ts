export { default as locale } from "antd/locale/zh_CN";
export { CHINESE as notes } from "./kinds-zh";
export { zh as texts } from "./zh";
