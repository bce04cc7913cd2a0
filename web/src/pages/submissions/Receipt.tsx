import { useMutation } from "@tanstack/react-query";
import { Alert, Button, Card, Descriptions, Flex, Grid, Typography, Upload } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { CopyText } from "@/ui/CopyText";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { submissionTexts } from "./texts";

/** The receipt of a hand-in: what it states, to be saved; and whether a file that somebody shows is genuine. */
export function Receipt({ submission }: { submission: Schemas["Submission"] }) {
  const t = useTexts(submissionTexts);
  const isWide = Grid.useBreakpoint().sm ?? true;
  const check = useMutation({
    mutationFn: async (file: File) =>
      body(api.POST("/api/receipts/verify", { body: { text: (await file.text()) || " " } })),
  });
  return (
    <Card size="small" title={t("receiptCard")}>
      <Flex vertical gap="small">
        <Typography.Text type="secondary">{t("receiptLead")}</Typography.Text>
        <Descriptions
          column={1}
          size="small"
          layout={isWide ? "horizontal" : "vertical"}
          items={[
            { key: "archive", label: t("archiveHash"), children: <CopyText text={submission.archive_sha256} /> },
            submission.tree_sha256 && {
              key: "tree",
              label: t("treeHash"),
              children: <CopyText text={submission.tree_sha256} />,
            },
          ].filter((item) => !!item)}
        />
        <Flex gap="small" wrap>
          <Button href={`/api/submissions/${submission.id}/receipt`} download>
            {t("receipt")}
          </Button>
          <Upload
            accept=".json"
            maxCount={1}
            showUploadList={false}
            beforeUpload={(file) => {
              check.mutate(file);
              return Upload.LIST_IGNORE;
            }}
          >
            <Button loading={check.isPending}>{t("verify")}</Button>
          </Upload>
        </Flex>
        {check.isError && <Problem error={check.error} />}
        {check.data && (
          <Checked found={check.data} isThis={check.data.submission === submission.id} zone={submission.zone} />
        )}
      </Flex>
    </Card>
  );
}

function Checked({ found, isThis, zone }: { found: Schemas["VerifiedReceipt"]; isThis: boolean; zone: string }) {
  const t = useTexts(submissionTexts);
  return (
    <Alert
      type={found.ours && isThis ? "success" : "warning"}
      showIcon
      role="status"
      title={found.ours ? t("good") : t("goodElse", { key: found.key_id })}
      description={
        <>
          <div>{isThis ? t("ofThis") : t("ofOther", { lab: found.lab, login: found.login, file: found.filename })}</div>
          <Moment at={found.submitted_at} zone={zone} />
        </>
      }
    />
  );
}
