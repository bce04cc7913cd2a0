import { Flex, Input, Select } from "antd";
import { useTexts } from "@/i18n";
import type { Person, Standing, Wanted } from "./filter";
import { peopleTexts } from "./texts";

interface Props {
  people: readonly Person[];
  wanted: Wanted;
  onChange: (wanted: Wanted) => void;
}

/** Whom to show. */
export function Filters({ people, wanted, onChange }: Props) {
  const t = useTexts(peopleTexts);
  const sections = [...new Set(people.map((one) => one.section).filter(Boolean))].sort();
  return (
    <Flex gap="small" wrap>
      <Input.Search
        allowClear
        aria-label={t("words")}
        placeholder={t("words")}
        value={wanted.words}
        onChange={(event) => onChange({ ...wanted, words: event.target.value })}
        style={{ flex: "1 1 220px", maxWidth: 360 }}
      />
      <Select
        aria-label={t("role")}
        style={{ minWidth: 120 }}
        value={wanted.role ?? ""}
        onChange={(role) => onChange({ ...wanted, role: role || undefined })}
        options={[
          { value: "", label: t("anyRole") },
          ...(["student", "assistant", "teacher"] as const).map((role) => ({ value: role as string, label: t(role) })),
        ]}
      />
      {sections.length > 1 && (
        <Select
          aria-label={t("section")}
          style={{ minWidth: 130 }}
          value={wanted.section ?? ""}
          onChange={(section) => onChange({ ...wanted, section: section || undefined })}
          options={[{ value: "", label: t("anySection") }, ...sections.map((one) => ({ value: one, label: one }))]}
        />
      )}
      <Select
        aria-label={t("state")}
        style={{ minWidth: 140 }}
        value={wanted.state ?? ""}
        onChange={(state) => onChange({ ...wanted, state: (state || undefined) as Standing | undefined })}
        options={[
          { value: "", label: t("anyState") },
          ...(["active", "waiting", "suspended"] as const).map((one) => ({ value: one as string, label: t(one) })),
        ]}
      />
    </Flex>
  );
}
