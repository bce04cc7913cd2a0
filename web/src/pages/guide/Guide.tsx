import { useQuery } from "@tanstack/react-query";
import { Button, Card, Flex } from "antd";
import type { MouseEvent, ReactNode } from "react";
import { useNavigate, useParams } from "react-router";
import { Missing } from "@/app/Missing";
import { useLanguage, useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { GUIDE_PAGES, type GuidePage } from "@/ui/guide";
import { Markdown } from "@/ui/Markdown";
import { Page } from "@/ui/Page";
import { readPage } from "./content";
import { guideTexts } from "./texts";

export default function Guide() {
  const asked = useParams().page;
  const page = GUIDE_PAGES.find((one) => one === asked);
  return page ? <Shown page={page} /> : <Missing />;
}

function Shown({ page }: { page: GuidePage }) {
  const t = useTexts(guideTexts);
  const { language } = useLanguage();
  const text = useQuery({
    queryKey: ["guide", page, language],
    queryFn: () => readPage(page, language),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Page title={t(page)} above={t("guide")}>
      <OwnLinks>
        <nav aria-label={t("pages")}>
          <Flex wrap gap="small">
            {GUIDE_PAGES.map((one) => (
              <Button
                key={one}
                href={`/guide/${one}`}
                type={one === page ? "primary" : "default"}
                aria-current={one === page ? "page" : undefined}
              >
                {t(one)}
              </Button>
            ))}
          </Flex>
        </nav>
        <Card style={{ marginTop: 16, maxWidth: 900 }}>
          <Answer of={text}>{(read) => <Markdown text={read} />}</Answer>
        </Card>
      </OwnLinks>
    </Page>
  );
}

/** Links to other pages of ours do not load the application anew. */
function OwnLinks({ children }: { children: ReactNode }) {
  const go = useNavigate();
  const follow = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const address = link?.getAttribute("href");
    if (!address?.startsWith("/") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void go(address);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links inside are what is used; Enter on one is a click
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside are what is used; Enter on one is a click
    <div onClick={follow}>{children}</div>
  );
}
