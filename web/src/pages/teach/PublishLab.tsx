import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Card, Flex, Form, Input, Spin } from "antd";
import { useRef, useState } from "react";
import { asError, callHeaders, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Problem } from "@/ui/Problem";
import { LabReportShown } from "./LabReportShown";
import { teachTexts } from "./texts";
import { placeOf, zipOf } from "./zip";

interface Chosen {
  name: string;
  data: Blob;
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
  const check = useMutation({ mutationFn: ({ data }: Chosen) => sent<Schemas["LabReport"]>(`${base}/check`, data) });
  const publish = useMutation({
    mutationFn: ({ name, data }: Chosen) => sent<Schemas["Lab"]>(`${base}?slug=${encodeURIComponent(name)}`, data),
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
            onFinish={(fields: { slug: string }) => publish.mutate({ name: slug ?? fields.slug, data: chosen.data })}
          >
            {!slug && <SlugField known={known} />}
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
