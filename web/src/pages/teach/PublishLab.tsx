import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Card, Flex, Form, Input, Spin } from "antd";
import { useRef, useState } from "react";
import { api, asError, body, callHeaders, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Problem } from "@/ui/Problem";
import { placeOf, zipOf } from "@/ui/zip";
import { fromLocal } from "@/ui/zoned";
import { LabReportShown } from "./LabReportShown";
import { teachTexts } from "./texts";

interface Chosen {
  name: string;
  data: Blob;
}

interface Fields {
  slug: string;
  opens?: string;
  due?: string;
}

interface Props {
  cohort: string;
  known: string[];
  /** The lab of which a new version is published; else it is asked for. */
  slug?: string;
}

const MOST_FILES = 2000;

/** A lab folder is chosen, checked with every mistake pointed out, and published. */
export function PublishLab({ cohort, known, slug }: Props) {
  const t = useTexts(teachTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const base = `/api/cohorts/${encodeURIComponent(cohort)}/labs`;
  const zone = useQuery({
    queryKey: ["cohort", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}", { params: { path: { cohort } } })),
    select: (found) => found.zone,
  });
  const check = useMutation({ mutationFn: ({ data }: Chosen) => sent<Schemas["LabReport"]>(`${base}/check`, data) });
  const publish = useMutation({
    mutationFn: ({ data, fields }: { data: Blob; fields: Fields }) => {
      const query = new URLSearchParams({ slug: slug ?? fields.slug });
      for (const name of ["opens", "due"] as const) {
        const at = fromLocal(fields[name] ?? "", zone.data ?? "UTC");
        if (at) query.set(name, at);
      }
      return sent<Schemas["Lab"]>(`${base}?${query}`, data);
    },
    onSuccess: (lab) => {
      void message.success(t("published", { slug: lab.slug }));
      for (const key of ["labs", "lab", "regrades"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
      check.reset();
    },
  });
  const chosen = check.variables;
  const choose = (one: Chosen) => {
    publish.reset();
    check.mutate(one);
  };
  return (
    <Card title={t(slug ? "publishNew" : "publish")}>
      <Flex vertical gap="middle">
        {publish.isSuccess && publish.data.regrade && <Alert type="info" showIcon title={publish.data.regrade} />}
        {check.isIdle && <Choose onChosen={choose} />}
        {check.isPending && <Spin description={t("checking", { name: chosen?.name ?? "" })}>{<div />}</Spin>}
        {check.isError && <Problem error={check.error} />}
        {check.data && <LabReportShown report={check.data} />}
        {publish.isError && <Problem error={publish.error} />}
        {check.data?.ok && chosen && (
          <Form
            name="publish"
            layout="vertical"
            initialValues={{ slug: slug ?? slugOf(chosen.name) }}
            onFinish={(fields: Fields) => publish.mutate({ data: chosen.data, fields })}
          >
            {!slug && <SlugField known={known} />}
            {!slug && zone.data && <FirstDates zone={zone.data} />}
            <Button type="primary" htmlType="submit" loading={publish.isPending}>
              {t("doPublish")}
            </Button>
          </Form>
        )}
        {(check.data || check.isError) && <Button onClick={() => check.reset()}>{t("another")}</Button>}
      </Flex>
    </Card>
  );
}

function SlugField({ known }: { known: string[] }) {
  const t = useTexts(teachTexts);
  const typed = Form.useWatch<string | undefined>("slug");
  const isNew = typed === undefined || !known.includes(typed);
  return (
    <Form.Item
      name="slug"
      label={t("slug")}
      extra={isNew ? t("slugHint") : t("newVersion", { slug: typed })}
      rules={[{ required: true, pattern: /^[a-z0-9][a-z0-9-]{0,62}$/, message: t("slugRule") }]}
      style={{ maxWidth: 360 }}
    >
      <Input maxLength={63} />
    </Form.Item>
  );
}

function FirstDates({ zone }: { zone: string }) {
  const t = useTexts(teachTexts);
  return (
    <Flex wrap gap="middle">
      <Form.Item name="opens" label={t("opens")} extra={t("opensHint")}>
        <Input type="datetime-local" style={{ width: 230 }} />
      </Form.Item>
      <Form.Item name="due" label={t("due")} extra={t("zone", { zone })}>
        <Input type="datetime-local" style={{ width: 230 }} />
      </Form.Item>
    </Flex>
  );
}

function Choose({ onChosen }: { onChosen: (chosen: Chosen) => void }) {
  const t = useTexts(teachTexts);
  const { message } = App.useApp();
  const input = useRef<HTMLInputElement>(null);
  const [packing, setPacking] = useState(0);
  const pack = async (files: File[]) => {
    const wanted = files.flatMap((file) => {
      const path = placeOf(file.webkitRelativePath);
      return path === null ? [] : [{ file, path }];
    });
    if (wanted.length > MOST_FILES) {
      void message.error(t("tooMany", { n: wanted.length }));
      return;
    }
    setPacking(wanted.length);
    const entries = [];
    for (const { file, path } of wanted) entries.push({ path, data: new Uint8Array(await file.arrayBuffer()) });
    setPacking(0);
    onChosen({ name: files[0]?.webkitRelativePath.split("/")[0] ?? "", data: new Blob([zipOf(entries)]) });
  };
  return (
    <>
      <DropFile
        accept=".zip"
        hint={t("publishHint")}
        onFile={(file) => onChosen({ name: file.name.replace(/\.zip$/i, ""), data: file })}
      />
      <input
        ref={(element) => {
          input.current = element;
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        aria-label={t("chooseFolder")}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          if (files.length > 0) void pack(files);
        }}
      />
      <Button onClick={() => input.current?.click()} loading={packing > 0}>
        {packing > 0 ? t("packing", { n: packing }) : t("chooseFolder")}
      </Button>
    </>
  );
}

async function sent<T>(address: string, data: Blob): Promise<T> {
  const response = await fetch(address, {
    method: "POST",
    headers: { ...callHeaders(), "Content-Type": "application/octet-stream" },
    body: data,
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as T;
}

/** A name for the lab from that of its file. */
function slugOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return plain.replace(/^-+|-+$/g, "").slice(0, 63);
}
