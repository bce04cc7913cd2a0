import { Button, theme } from "antd";
import { useEffect, useRef, useState } from "react";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

interface Props {
  text: string;
  label: string;
  height?: number;
}

const MOST = 400_000;

/** Output of a program as text; stays at its end unless one has scrolled up. */
export function LogView({ text, label, height = 320 }: Props) {
  const t = useTexts(uiTexts);
  const { token } = theme.useToken();
  const box = useRef<HTMLPreElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const shown = text.length > MOST ? `…${text.slice(-MOST)}` : text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is what moves the view
  useEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, isFollowing]);
  return (
    <div style={{ position: "relative" }}>
      <pre
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label={label}
        onScroll={({ currentTarget: at }) => setFollowing(at.scrollHeight - at.scrollTop - at.clientHeight < 24)}
        style={{
          maxHeight: height,
          overflow: "auto",
          margin: 0,
          padding: 12,
          borderRadius: token.borderRadiusLG,
          background: token.colorFillTertiary,
          whiteSpace: "pre-wrap",
          overflowWrap: "anywhere",
          fontSize: 13,
        }}
      >
        {shown || t("noOutput")}
      </pre>
      {!isFollowing && (
        <Button size="small" style={{ position: "absolute", right: 12, bottom: 12 }} onClick={() => setFollowing(true)}>
          {t("follow")}
        </Button>
      )}
    </div>
  );
}
