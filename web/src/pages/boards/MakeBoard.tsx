import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Card, Checkbox, Flex, Form, Input, InputNumber, Segmented, Select, Slider, Typography } from "antd";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { api, asError, body, callHeaders, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { zipOf } from "@/ui/zip";
import { fromLocal } from "@/ui/zoned";
import { boardToml, METRICS } from "./boardToml";
import { boardTexts } from "./texts";

type Source = "table" | "kaggle" | "folder";

interface Fields {
  slug: string;
  title?: string;
  metric?: string;
  a_day?: number;
  ladder?: boolean;
  share?: number;
  due?: string;
  selections?: number;
}

/** A teacher makes a board of predictions: of a table of answers, of a Kaggle folder, or of a folder with board.toml. */
export default function MakeBoard() {
  const t = useTexts(boardTexts);
  const go = useNavigate();
  const queries = useQueryClient();
  const { cohort = "" } = useParams();
  const [source, setSource] = useState<Source>("table");
  const [file, setFile] = useState<File>();
  const [sample, setSample] = useState<File>();
  const zone = useQuery({
    queryKey: ["cohort", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}", { params: { path: { cohort } } })),
    select: (found) => found.zone,
  });
  const make = useMutation({
    mutationFn: async (fields: Fields) => {
      if (!file) throw new Error(t("fileMissing"));
      const query = new URLSearchParams({ slug: fields.slug });
      if (source === "kaggle") {
        query.set("metric", fields.metric ?? "accuracy");
        query.set("title", fields.title || fields.slug);
        query.set("a_day", String(fields.a_day ?? 5));
        query.set("ladder", String(fields.ladder ?? false));
      }
      const data = source === "table" ? await packed(fields, file, sample) : file;
      const made = await sent(`/api/cohorts/${encodeURIComponent(cohort)}/boards?${query}`, data);
      const due = fromLocal(fields.due ?? "", made.zone);
      if (due && source !== "folder")
        await body(
          api.PATCH("/api/cohorts/{cohort}/boards/{board}", {
            params: { path: { cohort, board: made.slug } },
            body: { due_at: due },
          }),
        );
      return made;
    },
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ["boards", cohort] });
      void go(`/c/${cohort}/boards/${made.slug}`);
    },
  });
  return (
    <Page title={t("make")} above={<Link to={`/c/${cohort}/boards`}>{t("boards")}</Link>}>
      <Card>
        <Flex vertical gap="middle" style={{ maxWidth: 640 }}>
          <Segmented<Source>
            block
            aria-label={t("ofWhat")}
            value={source}
            onChange={(chosen) => {
              setSource(chosen);
              setFile(undefined);
              make.reset();
            }}
            options={[
              { value: "table", label: t("ofTable") },
              { value: "kaggle", label: t("ofKaggle") },
              { value: "folder", label: t("ofFolder") },
            ]}
          />
          <Typography.Text type="secondary">{t(`${source}Lead`)}</Typography.Text>
          <DropFile
            accept={source === "table" ? ".csv" : ".zip"}
            hint={file?.name ?? t(`${source}File`)}
            onFile={setFile}
          />
          {source === "table" && <DropFile accept=".csv" hint={sample?.name ?? t("sampleFile")} onFile={setSample} />}
          <Form<Fields>
            name="board"
            layout="vertical"
            initialValues={{ metric: "accuracy", a_day: 5, share: 30, selections: 2 }}
            onFinish={(fields) => make.mutate(fields)}
          >
            <Form.Item
              name="slug"
              label={t("slug")}
              extra={t("slugHint")}
              rules={[{ required: true, pattern: /^(?!new$)[a-z0-9][a-z0-9-]{0,62}$/, message: t("slugRule") }]}
            >
              <Input maxLength={63} />
            </Form.Item>
            {source !== "folder" && (
              <>
                <Form.Item name="title" label={t("title")}>
                  <Input maxLength={200} />
                </Form.Item>
                <Form.Item name="metric" label={t("metric")} rules={[{ required: true, message: t("missing") }]}>
                  <Select showSearch options={METRICS.map((one) => ({ value: one, label: one }))} />
                </Form.Item>
                <Form.Item name="a_day" label={t("aDay")}>
                  <InputNumber min={1} max={1000} precision={0} />
                </Form.Item>
                {source === "table" && (
                  <>
                    <Form.Item name="share" label={t("share")}>
                      <Slider
                        ariaLabelForHandle={t("share")}
                        min={10}
                        max={90}
                        step={5}
                        tooltip={{ formatter: (n) => `${n} %` }}
                      />
                    </Form.Item>
                    <Form.Item name="selections" label={t("selections")}>
                      <InputNumber min={1} max={20} precision={0} />
                    </Form.Item>
                  </>
                )}
                <Form.Item name="due" label={t("due")} extra={zone.data ? t("zone", { zone: zone.data }) : undefined}>
                  <Input type="datetime-local" style={{ width: 230 }} />
                </Form.Item>
                <Form.Item name="ladder" valuePropName="checked">
                  <Checkbox>{t("ladder")}</Checkbox>
                </Form.Item>
              </>
            )}
            {make.isError && <Problem error={make.error} />}
            <Button type="primary" htmlType="submit" loading={make.isPending} disabled={!file}>
              {t("doMake")}
            </Button>
          </Form>
        </Flex>
      </Card>
    </Page>
  );
}

async function packed(fields: Fields, answers: File, sample: File | undefined): Promise<Blob> {
  const bytes = async (file: File) => new Uint8Array(await file.arrayBuffer());
  const header = (await answers.slice(0, 4096).text()).replace(/^\ufeff/, "").split(/\r?\n/)[0] ?? "";
  const toml = boardToml({
    title: fields.title || fields.slug,
    metric: fields.metric ?? "accuracy",
    header: header.split(",").map((name) => name.trim().replace(/^"|"$/g, "")),
    share: (fields.share ?? 30) / 100,
    aDay: fields.a_day ?? 5,
    selections: fields.selections ?? 2,
    ladder: fields.ladder ?? false,
  });
  const entries = [
    { path: "board.toml", data: new TextEncoder().encode(toml) },
    { path: "answers.csv", data: await bytes(answers) },
  ];
  if (sample) entries.push({ path: "sample_submission.csv", data: await bytes(sample) });
  return new Blob([zipOf(entries)]);
}

async function sent(address: string, data: Blob): Promise<Schemas["PredictionBoard"]> {
  const response = await fetch(address, {
    method: "POST",
    headers: { ...callHeaders(), "Content-Type": "application/octet-stream" },
    body: data,
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as Schemas["PredictionBoard"];
}
