import { ImportOutlined, PrinterOutlined, UserAddOutlined } from "@ant-design/icons";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Alert, Button, Popconfirm, Tag } from "antd";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { AddPerson } from "./AddPerson";
import { Filters } from "./Filters";
import { fitting, type Person, standing, type Wanted, withoutCode } from "./filter";
import { PersonDrawer } from "./PersonDrawer";
import { Slips } from "./Slips";
import { peopleTexts } from "./texts";

type Code = Schemas["ActivationCode"];

/** Everybody of a cohort, for its staff. */
export default function People() {
  const t = useTexts(peopleTexts);
  const { cohort = "" } = useParams();
  const title = useMe().cohorts.find((one) => one.cohort === cohort)?.title ?? cohort;
  const [wanted, setWanted] = useState<Wanted>({ words: "" });
  const [adding, setAdding] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const [codes, setCodes] = useState<Code[] | null>(null);
  const people = useQuery({
    queryKey: ["people", cohort],
    queryFn: () => everybody(cohort),
  });
  const all = useMutation({
    mutationFn: () =>
      body(api.POST("/api/cohorts/{cohort}/people/codes", { params: { path: { cohort } }, body: { logins: null } })),
    onSuccess: (made) => setCodes(made.codes),
  });
  useLive([`staff:${cohort}`], (event) => {
    if (event.kind === "people") void people.refetch();
  });
  const listed = people.data ?? [];
  const waiting = withoutCode(listed);
  if (codes)
    return (
      <Page title={t("slips")} above={title}>
        {all.data && all.data.left_out.length > 0 && (
          <Alert type="warning" showIcon title={t("leftOut", { names: all.data.left_out.join("、") })} />
        )}
        <Slips
          title={title}
          codes={codes}
          onDone={() => {
            setCodes(null);
            all.reset();
            void people.refetch();
          }}
        />
      </Page>
    );
  return (
    <Page
      title={t("people")}
      above={title}
      extra={
        <>
          <Link to={`/c/${cohort}/people/import`}>
            <Button type={listed.length > 1 ? "default" : "primary"} icon={<ImportOutlined />} tabIndex={-1}>
              {t("import")}
            </Button>
          </Link>
          <Button icon={<UserAddOutlined />} onClick={() => setAdding(true)}>
            {t("add")}
          </Button>
          {waiting > 0 && (
            <Popconfirm title={t("slips")} description={t("codesAllAsk")} onConfirm={() => all.mutate()}>
              <Button icon={<PrinterOutlined />} loading={all.isPending}>
                {t("codesAll", { n: waiting })}
              </Button>
            </Popconfirm>
          )}
        </>
      }
    >
      {all.isError && <Problem error={all.error} />}
      <Answer of={people} empty={t("nobody")}>
        {(found) => (
          <>
            <Filters people={found} wanted={wanted} onChange={setWanted} />
            <Listed rows={fitting(found, wanted)} onChoose={setChosen} />
          </>
        )}
      </Answer>
      {adding && <AddPerson cohort={cohort} onClose={() => setAdding(false)} onCode={(code) => setCodes([code])} />}
      {chosen !== null && (
        <PersonDrawer
          key={chosen}
          cohort={cohort}
          person={listed.find((one) => one.login === chosen)}
          onClose={() => setChosen(null)}
          onCode={(code) => setCodes([code])}
        />
      )}
    </Page>
  );
}

function Listed({ rows, onChoose }: { rows: Person[]; onChoose: (login: string) => void }) {
  const t = useTexts(peopleTexts);
  return (
    <DataList
      rows={rows}
      rowKey={(row) => row.login}
      label={t("people")}
      empty={t("noneFits")}
      pagination={rows.length > 100 ? { pageSize: 100, showSizeChanger: false } : false}
      columns={[
        { key: "name", title: t("name"), render: (row) => row.name, sorter: (a, b) => a.name.localeCompare(b.name) },
        { key: "number", title: t("number"), render: (row) => row.student_number ?? "—" },
        { key: "login", title: t("login"), render: (row) => row.login, wideOnly: true },
        {
          key: "section",
          title: t("section"),
          render: (row) => row.section || "—",
          sorter: (a, b) => a.section.localeCompare(b.section),
        },
        { key: "role", title: t("role"), render: (row) => <RoleName role={row.role} /> },
        { key: "state", title: t("state"), render: (row) => <StandingTag person={row} /> },
        { key: "alias", title: t("alias"), render: (row) => row.alias, wideOnly: true },
        {
          key: "change",
          title: t("change"),
          render: (row) => (
            <Button size="small" onClick={() => onChoose(row.login)} aria-label={t("changeOf", { name: row.name })}>
              {t("change")}
            </Button>
          ),
        },
      ]}
    />
  );
}

function RoleName({ role }: { role: string }) {
  const t = useTexts(peopleTexts);
  return role === "student" ? (
    t("student")
  ) : (
    <Tag color="processing">{role in peopleTexts ? t(role as keyof typeof peopleTexts) : role}</Tag>
  );
}

const COLOURS = { active: "success", waiting: "warning", suspended: "default" } as const;

function StandingTag({ person }: { person: Person }) {
  const t = useTexts(peopleTexts);
  const shown = standing(person);
  return <Tag color={COLOURS[shown]}>{t(shown)}</Tag>;
}

/** All pages of the list. */
async function everybody(cohort: string): Promise<Person[]> {
  const found: Person[] = [];
  let after: string | undefined;
  do {
    const part = await body(
      api.GET("/api/cohorts/{cohort}/people", { params: { path: { cohort }, query: { after, limit: 1000 } } }),
    );
    found.push(...part.items);
    after = part.next ?? undefined;
  } while (after);
  return found;
}
