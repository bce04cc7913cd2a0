import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Flex, Form, Input, Popconfirm, Tag, Typography } from "antd";
import { api, body } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Moment, useNow } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { type Group, isOpen, type MyStanding, myStanding, type Rules } from "./standing";
import { groupTexts } from "./texts";

interface Props {
  cohort: string;
  /** The lab or board for which one hands in. */
  slug: string;
  /** How many may hand in as one. */
  most: number;
  zone?: string;
}

/** The group in which a student hands in: made, joined and left here. Nothing where everybody hands in alone. */
export function MyGroup({ cohort, slug, most, zone }: Props) {
  const me = useMe();
  const queries = useQueryClient();
  const path = { cohort };
  const rules = useQuery({
    queryKey: ["group-rules", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/group-rules", { params: { path } })),
  });
  const groups = useQuery({
    queryKey: ["groups", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/groups", { params: { path } })),
    enabled: rules.isSuccess && rules.data.length > 0,
  });
  useLive(["me", `cohort:${cohort}`], (event) => {
    if (event.kind !== "group") return;
    for (const key of ["group-rules", "groups"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
  });
  const isStudent = me.cohorts.some((one) => one.cohort === cohort && one.role === "student");
  if (!isStudent || !rules.data || !groups.data) return null;
  const mine = myStanding(rules.data, groups.data, me.login, slug);
  if (!mine.rules && !mine.group) return null;
  const rule = mine.rules && { ...mine.rules, size: Math.min(mine.rules.size, most) };
  return <Shown cohort={cohort} mine={{ ...mine, rules: rule }} zone={zone} />;
}

function Shown({ cohort, mine, zone }: { cohort: string; mine: MyStanding; zone?: string }) {
  const t = useTexts(groupTexts);
  const { rules, group } = mine;
  const now = useNow();
  const open = isOpen(rules, now);
  const { run, error, isPending } = useGroupActions(cohort);
  return (
    <Card
      size="small"
      title={t("mine")}
      extra={
        open &&
        rules?.locks_at && (
          <Typography.Text>
            {t("lockAt")} <Moment at={rules.locks_at} zone={zone} countdown />
          </Typography.Text>
        )
      }
    >
      <Flex vertical gap="small">
        {error !== null && <Problem error={error} />}
        {group ? (
          <Members group={group} rules={rules} open={open && group.scope === rules?.scope} run={run} />
        ) : (
          <>
            <Typography.Text>
              {t("aloneNow")} ·{" "}
              {open ? t("orForm", { n: rules?.size ?? 1 }) : t(rules?.by_students ? "locked" : "byTeacher")}
            </Typography.Text>
            {open &&
              mine.asked.map((one) => (
                <Alert
                  key={one.id}
                  type="info"
                  showIcon
                  title={t("asked", { name: one.name, members: one.members.map((person) => person.name).join("、") })}
                  action={
                    <Flex gap="small" wrap>
                      <Button type="primary" size="small" onClick={() => run({ kind: "accept", id: one.id })}>
                        {t("accept")}
                      </Button>
                      <Button size="small" onClick={() => run({ kind: "leave", id: one.id })}>
                        {t("decline")}
                      </Button>
                    </Flex>
                  }
                />
              ))}
            {open && (
              <OneField
                name="group-name"
                label={t("newName")}
                action={t("create")}
                busy={isPending}
                onDone={(name) => run({ kind: "create", name, scope: rules?.scope ?? "" })}
              />
            )}
          </>
        )}
      </Flex>
    </Card>
  );
}

interface MembersProps {
  group: Group;
  rules: Rules | undefined;
  open: boolean;
  run: (action: Action) => void;
}

function Members({ group, rules, open, run }: MembersProps) {
  const t = useTexts(groupTexts);
  const size = rules?.size ?? group.members.length;
  const isFull = group.members.length + group.invited.length >= size;
  return (
    <>
      <Flex gap="small" wrap align="center">
        <Typography.Text strong>{group.name}</Typography.Text>
        {group.members.map((one) => (
          <Tag key={one.login}>{one.name}</Tag>
        ))}
      </Flex>
      {group.invited.length > 0 && (
        <Typography.Text type="secondary">
          {t("waiting", { names: group.invited.map((one) => one.name).join("、") })}
        </Typography.Text>
      )}
      {open && !isFull && (
        <OneField
          name="group-invite"
          label={t("inviteWho")}
          action={t("invite")}
          onDone={(login) => run({ kind: "invite", id: group.id, login })}
        />
      )}
      {open && isFull && <Typography.Text type="secondary">{t("full")}</Typography.Text>}
      {open && (
        <div>
          <Popconfirm
            title={t("leave")}
            description={t("leaveAsk")}
            onConfirm={() => run({ kind: "leave", id: group.id })}
          >
            <Button size="small">{t("leave")}</Button>
          </Popconfirm>
        </div>
      )}
    </>
  );
}

interface OneFieldProps {
  name: string;
  label: string;
  action: string;
  busy?: boolean;
  onDone: (value: string) => void;
}

function OneField({ name, label, action, busy, onDone }: OneFieldProps) {
  const [form] = Form.useForm<{ value: string }>();
  return (
    <Form
      name={name}
      form={form}
      layout="vertical"
      onFinish={({ value }) => {
        onDone(value);
        form.resetFields();
      }}
    >
      <Flex gap="small" align="end" wrap>
        <Form.Item name="value" label={label} rules={[{ required: true, whitespace: true }]} style={{ margin: 0 }}>
          <Input maxLength={40} autoComplete="off" />
        </Form.Item>
        <Button htmlType="submit" loading={busy}>
          {action}
        </Button>
      </Flex>
    </Form>
  );
}

type Action =
  | { kind: "create"; name: string; scope: string }
  | { kind: "invite"; id: number; login: string }
  | { kind: "accept" | "leave"; id: number };

function useGroupActions(cohort: string) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: async (action: Action): Promise<void> => {
      if (action.kind === "create") {
        await api.POST("/api/cohorts/{cohort}/groups", {
          params: { path: { cohort } },
          body: { name: action.name, scope: action.scope },
        });
        return;
      }
      const path = { group_id: action.id };
      if (action.kind === "invite")
        await api.POST("/api/groups/{group_id}/invite", { params: { path }, body: { login: action.login } });
      else if (action.kind === "accept") await api.POST("/api/groups/{group_id}/accept", { params: { path } });
      else await api.POST("/api/groups/{group_id}/leave", { params: { path } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["groups", cohort] }),
  });
  return { run: act.mutate, error: act.error, isPending: act.isPending };
}
