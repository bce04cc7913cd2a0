import { useQuery } from "@tanstack/react-query";
import { Button, Card, Flex } from "antd";
import type { MouseEvent } from "react";
import { Link, useNavigate, useParams } from "react-router";
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
      <nav aria-label={t("pages")}>
        <Flex wrap gap="small">
          {GUIDE_PAGES.map((one) => (
            <Link key={one} to={`/guide/${one}`} aria-current={one === page ? "page" : undefined}>
              <Button tabIndex={-1} type={one === page ? "primary" : "default"}>
                {t(one)}
              </Button>
            </Link>
          ))}
        </Flex>
      </nav>
      <Card>
        <Answer of={text}>{(read) => <Inside text={read} />}</Answer>
      </Card>
    </Page>
  );
}

/** Links to other pages of ours do not load the application anew. */
function Inside({ text }: { text: string }) {
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
    <div onClick={follow}>
      <Markdown text={text} />
    </div>
  );
}
