import { DownloadOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Flex, Input, Select, Switch, Typography } from "antd";
import { useDeferredValue, useMemo, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { api, body } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { CellDrawer } from "./CellDrawer";
import { chosen, type Line, sectionsOf } from "./lines";
import { Matrix } from "./Matrix";
import { bookTexts } from "./texts";
import { useSoon } from "./useSoon";

/** Everybody and every lab of a cohort. */
export default function GradeBook() {
  const t = useTexts(bookTexts);
  const { language } = useLanguage();
  const { cohort = "" } = useParams();
  const queries = useQueryClient();
  const lines = useQuery({ queryKey: ["gradebook", cohort], queryFn: () => everyLine(cohort) });
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
  });
  // When a whole class hands in, the book is fetched once for many gradings.
  const soon = useSoon(() => void queries.invalidateQueries({ queryKey: ["gradebook", cohort] }), 3000);
  useLive([`staff:${cohort}`], (event) => {
    if (event.kind === "grade" || event.kind === "submission") soon();
  });
  return (
    <Page
      title={t("title")}
      extra={(["xlsx", "csv"] as const).map((form) => (
        <Button
          key={form}
          href={`/api/cohorts/${cohort}/grades.${form}`}
          download={`grades-${cohort}.${form}`}
          icon={<DownloadOutlined aria-hidden />}
        >
          {t(form)}
        </Button>
      ))}
    >
      <Answer of={lines} empty={t("none")}>
        {(rows) => (
          <Answer of={labs} empty={t("noLabs")}>
            {(found) => (
              <Chosen
                cohort={cohort}
                lines={rows}
                labs={found.map((lab) => ({ slug: lab.slug, title: either(lab.title, lab.title_en, language) }))}
              />
            )}
          </Answer>
        )}
      </Answer>
    </Page>
  );
}

async function everyLine(cohort: string): Promise<Line[]> {
  const found: Line[] = [];
  let after: string | undefined;
  do {
    const page = await body(
      api.GET("/api/cohorts/{cohort}/grades", { params: { path: { cohort }, query: { limit: 1000, after } } }),
    );
    found.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return found;
}

export interface LabName {
  slug: string;
  title: string;
}

function Chosen({ cohort, lines, labs }: { cohort: string; lines: Line[]; labs: LabName[] }) {
  const t = useTexts(bookTexts);
  const [search, setSearch] = useSearchParams();
  const [section, setSection] = useState<string | undefined>();
  const [suspended, setSuspended] = useState(false);
  const [at, setAt] = useState<{ login: string; lab: string } | null>(null);
  const typed = search.get("find") ?? "";
  const words = useDeferredValue(typed);
  const shown = useMemo(() => chosen(lines, { words, section, suspended }), [lines, words, section, suspended]);
  const sections = sectionsOf(lines);
  const line = lines.find((one) => one.login === at?.login);
  const lab = labs.find((one) => one.slug === at?.lab);
  return (
    <>
      <Flex wrap gap="middle" align="center">
        <Input.Search
          allowClear
          aria-label={t("find")}
          placeholder={t("find")}
          value={typed}
          onChange={(event) => setSearch(event.target.value ? { find: event.target.value } : {}, { replace: true })}
          style={{ maxWidth: 320 }}
        />
        {sections.length > 0 && (
          <Select
            allowClear
            aria-label={t("section")}
            placeholder={t("anySection")}
            value={section}
            onChange={setSection}
            options={sections.map((one) => ({ value: one, label: one }))}
            style={{ minWidth: 160 }}
          />
        )}
        {lines.some((one) => !one.active) && (
          // biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is the control
          <label>
            <Switch checked={suspended} onChange={setSuspended} size="small" /> {t("suspended")}
          </label>
        )}
        <Typography.Text type="secondary" role="status">
          {t("shown", { n: shown.length })}
        </Typography.Text>
      </Flex>
      <Matrix lines={shown} labs={labs} onOpen={(login, slug) => setAt({ login, lab: slug })} />
      {line && lab && <CellDrawer cohort={cohort} line={line} lab={lab} onClose={() => setAt(null)} />}
    </>
  );
}
