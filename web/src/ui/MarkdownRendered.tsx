import ReactMarkdown, { defaultUrlTransform } from "react-markdown";
import rehypeHighlight from "rehype-highlight";
import rehypeKatex from "rehype-katex";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import "katex/dist/katex.min.css";
import "./markdown.css";

export default function MarkdownRendered({ text, base }: { text: string; base?: string }) {
  const resolve = (address: string) => {
    const safe = defaultUrlTransform(address);
    const isRelative = safe !== "" && !/^([a-z]+:|\/|#)/i.test(safe);
    return base && isRelative ? `${base}${safe}` : safe;
  };
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, remarkMath]}
        rehypePlugins={[rehypeKatex, [rehypeHighlight, { detect: false }]]}
        urlTransform={resolve}
        components={{
          a: ({ node: _, href, children, ...rest }) => (
            <a href={href} {...(href?.startsWith("http") ? { target: "_blank", rel: "noreferrer" } : {})} {...rest}>
              {children}
            </a>
          ),
          pre: ({ node: _, ...rest }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
            <pre tabIndex={0} {...rest} />
          ),
          table: ({ node: _, ...rest }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
            <div className="markdown-wide" tabIndex={0}>
              <table {...rest} />
            </div>
          ),
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
