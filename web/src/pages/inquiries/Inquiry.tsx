import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Card, Flex, Form, Input, Tag, Typography, theme } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { Points } from "@/ui/tags";
import { Stand } from "./Inquiries";
import { inquiryTexts } from "./texts";

type Thread = Schemas["InquiryThread"];

/** One inquiry with its messages; a new one appears by itself. */
export default function Inquiry() {
  const t = useTexts(inquiryTexts);
  const { cohort = "", inquiry = "" } = useParams();
  const staff = isStaff(useMe(), cohort);
  const key = ["inquiry", inquiry];
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: key,
    queryFn: () => body(api.GET("/api/inquiries/{inquiry}", { params: { path: { inquiry } } })),
  });
  useLive(staff ? [`staff:${cohort}`] : ["me"], (event) => {
    if (event.kind === "inquiry" && event.payload.inquiry === inquiry) void found.refetch();
  });
  const turn = useMutation({
    mutationFn: (act: "close" | "reopen") =>
      body(
        act === "close"
          ? api.POST("/api/inquiries/{inquiry}/close", { params: { path: { inquiry } } })
          : api.POST("/api/inquiries/{inquiry}/reopen", { params: { path: { inquiry } } }),
      ),
    onSuccess: (thread) => queries.setQueryData(key, thread),
  });
  const of = found.data?.inquiry;
  return (
    <Page
      title={of ? t("one", { lab: of.title }) : t("title")}
      above={<Link to={`/c/${cohort}/inquiries`}>{t("title")}</Link>}
      extra={
        of && (
          <Button loading={turn.isPending} onClick={() => turn.mutate(of.state === "open" ? "close" : "reopen")}>
            {t(of.state === "open" ? "close" : "reopen")}
          </Button>
        )
      }
    >
      {turn.isError && <Problem error={turn.error} />}
      <Answer of={found}>
        {(thread) => (
          <>
            <About thread={thread} staff={staff} />
            <Messages thread={thread} />
            <Reply thread={thread} onSent={(made) => queries.setQueryData(key, made)} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function About({ thread, staff }: { thread: Thread; staff: boolean }) {
  const t = useTexts(inquiryTexts);
  const of = thread.inquiry;
  return (
    <Flex wrap gap="middle" align="center">
      <Stand of={of} />
      <span>
        {of.name} <Typography.Text type="secondary">{of.login}</Typography.Text>
      </span>
      <span>
        {t("points")}: <Points points={thread.points} of={thread.max_points} />
      </span>
      {of.attempt && <Link to={`/attempts/${of.attempt}`}>{t("attempt")}</Link>}
      {staff && <Link to={`/c/${of.cohort}/grades?find=${encodeURIComponent(of.login)}`}>{t("book")}</Link>}
    </Flex>
  );
}

function Messages({ thread }: { thread: Thread }) {
  const t = useTexts(inquiryTexts);
  const { token } = theme.useToken();
  return (
    <Flex
      vertical
      gap="small"
      component="ol"
      aria-label={t("messages")}
      style={{ margin: 0, padding: 0, listStyle: "none" }}
    >
      {thread.messages.map((one) => (
        <li key={one.id}>
          <Card
            size="small"
            style={one.by_staff ? { borderInlineStart: `4px solid ${token.colorPrimary}` } : undefined}
          >
            <Flex wrap gap="small" align="center">
              <Typography.Text strong>{one.mine ? t("me") : one.name}</Typography.Text>
              {one.by_staff && <Tag color="blue">{t("staff")}</Tag>}
              <Typography.Text type="secondary">
                <Moment at={one.at} countdown />
              </Typography.Text>
            </Flex>
            <div style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{one.text}</div>
          </Card>
        </li>
      ))}
    </Flex>
  );
}

function Reply({ thread, onSent }: { thread: Thread; onSent: (thread: Thread) => void }) {
  const t = useTexts(inquiryTexts);
  const [form] = Form.useForm<{ text: string }>();
  const inquiry = thread.inquiry.id;
  const send = useMutation({
    mutationFn: ({ text }: { text: string }) =>
      body(api.POST("/api/inquiries/{inquiry}/messages", { params: { path: { inquiry } }, body: { text } })),
    onSuccess: (made) => {
      form.resetFields();
      onSent(made);
    },
  });
  return (
    <Form
      name="reply"
      form={form}
      layout="vertical"
      onFinish={(fields) => send.mutate(fields)}
      style={{ maxWidth: 720 }}
    >
      {send.isError && <Problem error={send.error} />}
      <Form.Item
        name="text"
        label={t("write")}
        extra={thread.inquiry.state === "closed" ? t("reopens") : undefined}
        rules={[{ required: true, whitespace: true, message: t("missing") }]}
      >
        <Input.TextArea rows={3} maxLength={4000} showCount />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={send.isPending}>
        {t("send")}
      </Button>
    </Form>
  );
}
