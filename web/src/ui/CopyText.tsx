import { Typography } from "antd";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

/** A text to be copied, such as a command or a token. */
export function CopyText({ text }: { text: string }) {
  const t = useTexts(uiTexts);
  return (
    <Typography.Text code copyable={{ text, tooltips: [t("copy"), t("copied")] }} style={{ overflowWrap: "anywhere" }}>
      {text}
    </Typography.Text>
  );
}
