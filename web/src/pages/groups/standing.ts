import type { Schemas } from "@/api/client";

export type Group = Schemas["Group"];
export type Rules = Schemas["GroupRules"];

export interface MyStanding {
  /** The rules that hold for the lab: its own, else the cohort's; undefined: everybody hands in alone. */
  rules: Rules | undefined;
  /** The group with which one hands in. */
  group: Group | undefined;
  /** Groups of the same rules that ask. */
  asked: Group[];
}

/** What one is to the groups of a lab or board; one made for it comes before one of the whole cohort. */
export function myStanding(rules: readonly Rules[], groups: readonly Group[], login: string, slug: string): MyStanding {
  const isIn = (group: Group) => group.members.some((one) => one.login === login);
  const of = (scope: string) => groups.find((group) => group.scope === scope && isIn(group));
  const group = of(slug) ?? of("");
  const rule = rules.find((one) => one.scope === slug) ?? rules.find((one) => one.scope === "");
  const asked = rule
    ? groups.filter((one) => one.scope === rule.scope && one.invited.some((person) => person.login === login))
    : [];
  return { rules: rule, group, asked };
}

/** Whether students may change anything now. */
export function isOpen(rules: Rules | undefined, now: number): boolean {
  if (!rules?.by_students) return false;
  return rules.locks_at === null || Date.parse(rules.locks_at) > now;
}

/** Students of the class who are in no group of a scope. */
export function alone<P extends { login: string; role: string; state: string }>(
  people: readonly P[],
  groups: readonly Group[],
  scope: string,
): P[] {
  const taken = new Set(
    groups.filter((group) => group.scope === scope).flatMap((group) => group.members.map((one) => one.login)),
  );
  return people.filter((one) => one.role === "student" && one.state === "active" && !taken.has(one.login));
}
