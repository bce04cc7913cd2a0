import { GlobalOutlined, MenuOutlined, MoonOutlined, SunOutlined, UserOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Alert, Button, Drawer, Dropdown, Flex, Grid, Layout, Menu, Select, Spin } from "antd";
import type { ItemType } from "antd/es/menu/interface";
import { useEffect, useState } from "react";
import { Link, Navigate, Outlet, useLocation, useNavigate } from "react-router";
import { api, body, session } from "@/api/client";
import { queries } from "@/api/query";
import { useLanguage, useTexts } from "@/i18n";
import { LiveBadge } from "@/live/LiveBadge";
import { live } from "@/live/stream";
import { useLive } from "@/live/useLive";
import { Problem } from "@/ui/Problem";
import { useCohort } from "./cohort";
import { isStaff, type Me, MeProvider, useWho } from "./me";
import { menuOf } from "./menu";
import { appTexts } from "./texts";
import { useLook } from "./theme";
import "./shell.css";

/** What stands around every page of somebody who is signed in. */
export function Shell() {
  const who = useWho();
  const at = useLocation();
  if (who.isError && who.data === undefined) return <Problem error={who.error} retry={() => void who.refetch()} />;
  if (who.data === undefined) return <Spin fullscreen />;
  if (who.data === null) {
    const next = at.pathname === "/" ? "" : `?next=${encodeURIComponent(at.pathname + at.search)}`;
    return <Navigate to={`/login${next}`} replace />;
  }
  return (
    <MeProvider me={who.data}>
      <Framed me={who.data} />
    </MeProvider>
  );
}

function Framed({ me }: { me: Me }) {
  const t = useTexts(appTexts);
  const isWide = Grid.useBreakpoint().lg ?? true;
  const [isOpen, setOpen] = useState(false);
  const at = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer
  useEffect(() => setOpen(false), [at.pathname]);
  useEffect(() => live.begin(me.cursor), [me.cursor]);
  // Somebody changed what one is in a cohort: the menu and what one may see go with it.
  useLive(["me"], (event) => {
    if (event.kind === "people") void queries.invalidateQueries({ queryKey: ["me"] });
  });
  useEffect(() => {
    session.onSignedOut = () => {
      live.reset();
      queries.setQueryData(["me"], null);
    };
  }, []);
  return (
    <Layout className="shell">
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <Layout.Header className="shell-head">
        {!isWide && <Button type="text" icon={<MenuOutlined />} aria-label={t("menu")} onClick={() => setOpen(true)} />}
        <Link to="/" className="shell-name">
          千卡 Qianka
        </Link>
        <Flex flex={1} justify="end" align="center" gap={4}>
          <LiveBadge />
          <LanguageButton />
          <LookButton />
          <PersonButton me={me} />
        </Flex>
      </Layout.Header>
      <Layout>
        {isWide ? (
          <Layout.Sider width={216} theme="light" className="shell-side">
            <Navigation me={me} />
          </Layout.Sider>
        ) : (
          <Drawer open={isOpen} onClose={() => setOpen(false)} placement="left" size={280} title={t("menu")}>
            <Navigation me={me} />
          </Drawer>
        )}
        <Layout.Content id="content" className="shell-content" tabIndex={-1} role="main">
          <Notices me={me} />
          <Outlet />
        </Layout.Content>
      </Layout>
    </Layout>
  );
}

function Navigation({ me }: { me: Me }) {
  const t = useTexts(appTexts);
  const cohort = useCohort();
  const at = useLocation();
  const go = useNavigate();
  const sections = menuOf(me, cohort);
  const entries = sections.flatMap((section) => section.entries);
  // The longest address that leads here is where we are.
  const here = entries
    .filter((one) => at.pathname === one.to || (one.to !== "/" && at.pathname.startsWith(`${one.to}/`)))
    .sort((a, b) => b.to.length - a.to.length)[0];
  const link = (one: { text: keyof typeof appTexts; to: string }) => ({
    key: one.to,
    label: <Link to={one.to}>{t(one.text)}</Link>,
  });
  return (
    <nav aria-label={t("menu")}>
      {me.cohorts.length > 1 && (
        <Select
          aria-label={t("cohort")}
          style={{ width: "calc(100% - 24px)", margin: 12 }}
          value={cohort}
          options={me.cohorts.map((one) => ({ value: one.cohort, label: one.title }))}
          onChange={(chosen) => void go(`/c/${chosen}/labs`)}
        />
      )}
      <Menu
        mode="inline"
        selectedKeys={here ? [here.to] : []}
        items={sections.flatMap((section): ItemType[] =>
          section.text
            ? [{ key: section.text, type: "group", label: t(section.text), children: section.entries.map(link) }]
            : section.entries.map(link),
        )}
      />
    </nav>
  );
}

function LanguageButton() {
  const t = useTexts(appTexts);
  const { language, choose } = useLanguage();
  return (
    <Button
      type="text"
      icon={<GlobalOutlined />}
      aria-label={t("language")}
      onClick={() => choose(language === "zh" ? "en" : "zh")}
    >
      {language === "zh" ? "EN" : "中"}
    </Button>
  );
}

function LookButton() {
  const t = useTexts(appTexts);
  const { look, isDark, choose } = useLook();
  return (
    <Dropdown
      menu={{
        selectedKeys: [look],
        items: (["system", "light", "dark"] as const).map((key) => ({
          key,
          label: t(key),
          onClick: () => choose(key),
        })),
      }}
      trigger={["click"]}
    >
      <Button type="text" icon={isDark ? <MoonOutlined /> : <SunOutlined />} aria-label={t("look")} />
    </Dropdown>
  );
}

function PersonButton({ me }: { me: Me }) {
  const t = useTexts(appTexts);
  const isWide = Grid.useBreakpoint().sm ?? true;
  const signOut = async () => {
    await api.POST("/api/auth/logout");
    live.reset();
    queries.clear();
    session.csrf = null;
    location.assign("/login");
  };
  return (
    <Dropdown
      menu={{
        items: [
          { key: "me", label: <Link to="/me">{t("me")}</Link> },
          { key: "tokens", label: <Link to="/me/tokens">{t("tokens")}</Link> },
          { key: "sessions", label: <Link to="/me/sessions">{t("sessions")}</Link> },
          { type: "divider" },
          { key: "out", label: t("signOut"), onClick: () => void signOut() },
        ],
      }}
      trigger={["click"]}
    >
      <Button type="text" icon={<UserOutlined />} aria-label={`${t("me")}: ${me.name}`}>
        {isWide ? me.name : null}
      </Button>
    </Dropdown>
  );
}

/** How the machine is set up: for those who can change it. */
const FOR_OPERATORS = new Set(["root"]);

/** What every page has to say while it lasts, such as a full disk; what to do, for those who can do it. */
function Notices({ me }: { me: Me }) {
  const operates = me.is_admin || me.cohorts.some((one) => isStaff(me, one.cohort));
  const { language } = useLanguage();
  const health = useQuery({
    queryKey: ["health", language],
    queryFn: () => body(api.GET("/api/health")),
    refetchInterval: 60_000,
  });
  const notices = (health.data?.notices ?? []).filter((notice) => operates || !FOR_OPERATORS.has(notice.code));
  if (notices.length === 0) return null;
  return (
    <Flex vertical gap="small" className="no-print" style={{ marginBottom: 16 }}>
      {notices.map((notice) => (
        <Alert
          key={notice.code}
          type="warning"
          showIcon
          title={notice.message}
          description={operates ? notice.fix : undefined}
        />
      ))}
    </Flex>
  );
}
