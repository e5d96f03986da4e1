import { PlusOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { Link } from "react-router";
import { useText } from "../i18n";

/** What stands in the place of the next question where a conversation is somebody else's. */
export function ReaderFoot({ owner }: { readonly owner: string }) {
  const t = useText();
  return (
    <div className="reader-foot">
      <p>{t("chat.reader", { name: owner })}</p>
      <Link to="/chat">
        <Button icon={<PlusOutlined />}>{t("chat.reader.do")}</Button>
      </Link>
    </div>
  );
}
