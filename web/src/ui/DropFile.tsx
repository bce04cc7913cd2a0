import { InboxOutlined } from "@ant-design/icons";
import { Upload } from "antd";
import type { ReactNode } from "react";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

interface Props {
  /** As in `<input accept>`, such as `.zip`. */
  accept?: string;
  hint?: ReactNode;
  disabled?: boolean;
  onFile: (file: File) => void;
}

/** A place to drop a file on, or to choose one with the keyboard. Sends nothing by itself. */
export function DropFile({ accept, hint, disabled, onFile }: Props) {
  const t = useTexts(uiTexts);
  return (
    <Upload.Dragger
      accept={accept}
      disabled={disabled}
      maxCount={1}
      showUploadList={false}
      beforeUpload={(file) => {
        onFile(file);
        return Upload.LIST_IGNORE;
      }}
    >
      <p>
        <InboxOutlined style={{ fontSize: 32 }} aria-hidden />
      </p>
      <p>{t("dropHere")}</p>
      {hint && <p style={{ opacity: 0.75 }}>{hint}</p>}
    </Upload.Dragger>
  );
}
