import { PrinterOutlined } from "@ant-design/icons";
import { Alert, Button, Flex, QRCode, Typography } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import "./slips.css";
import { peopleTexts } from "./texts";

interface Props {
  title: string;
  codes: readonly Schemas["ActivationCode"][];
  onDone: () => void;
}

/** One-time codes as slips to cut apart; they are on this page and nowhere else. */
export function Slips({ title, codes, onDone }: Props) {
  const t = useTexts(peopleTexts);
  return (
    <Flex vertical gap="middle">
      <Flex vertical gap="middle" className="no-print">
        <Alert type="warning" showIcon title={t("onceTitle")} description={t("once")} />
        <Flex gap="small" wrap>
          <Button type="primary" icon={<PrinterOutlined />} onClick={() => window.print()}>
            {t("print", { n: codes.length })}
          </Button>
          <Button onClick={onDone}>{t("done")}</Button>
        </Flex>
      </Flex>
      <ul className="slips" aria-label={t("slips")}>
        {codes.map((one) => (
          <Slip key={one.login} title={title} of={one} />
        ))}
      </ul>
    </Flex>
  );
}

function Slip({ title, of }: { title: string; of: Schemas["ActivationCode"] }) {
  const t = useTexts(peopleTexts);
  // The login alone: a code in an address would stay in histories and logs.
  const address = `${location.origin}/activate?login=${encodeURIComponent(of.login)}`;
  return (
    <li className="slip">
      <div>
        <Typography.Text type="secondary">{[title, of.section].filter(Boolean).join(" · ")}</Typography.Text>
        <div>
          <strong>{of.name}</strong> {of.student_number}
        </div>
        <div>
          {t("login")} <strong>{of.login}</strong>
        </div>
        <div className="slip-code">{of.code}</div>
        <small>{t("slipWhere", { address: `${location.host}/activate` })}</small>
      </div>
      <div aria-hidden>
        <QRCode value={address} size={84} type="svg" bordered={false} color="#000" bgColor="#fff" />
      </div>
    </li>
  );
}
