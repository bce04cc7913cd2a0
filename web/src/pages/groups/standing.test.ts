import { expect, test } from "vitest";
import { alone, type Group, isOpen, myStanding, type Rules } from "./standing";

function group(id: number, scope: string, members: string[], invited: string[] = []): Group {
  const people = (logins: string[]) => logins.map((login) => ({ login, name: login }));
  return { id, scope, name: `g${id}`, alias: "", members: people(members), invited: people(invited) };
}

function rules(scope: string, more: Partial<Rules> = {}): Rules {
  return { scope, size: 2, by_students: true, locks_at: null, ...more };
}

test("a group made for the lab comes before one of the cohort", () => {
  const groups = [group(1, "", ["a", "b"]), group(2, "lab1", ["a", "c"])];
  expect(myStanding([rules("")], groups, "a", "lab1").group?.id).toBe(2);
  expect(myStanding([rules("")], groups, "a", "lab2").group?.id).toBe(1);
  expect(myStanding([rules("")], groups, "c", "lab2").group).toBeUndefined();
});

test("the rules of the lab hold before those of the cohort, and so do its invitations", () => {
  const groups = [group(1, "", ["b"], ["a"]), group(2, "lab1", ["c"], ["a"])];
  const found = myStanding([rules(""), rules("lab1", { size: 4 })], groups, "a", "lab1");
  expect(found.rules?.size).toBe(4);
  expect(found.asked.map((one) => one.id)).toEqual([2]);
  expect(myStanding([], groups, "a", "lab1")).toEqual({ rules: undefined, group: undefined, asked: [] });
});

test("an invitation makes nobody a member", () => {
  expect(myStanding([rules("")], [group(1, "", ["b"], ["a"])], "a", "lab1").group).toBeUndefined();
});

test("students form groups until the lock", () => {
  const lock = "2026-12-01T00:00:00Z";
  const at = Date.parse(lock);
  expect(isOpen(rules("", { locks_at: lock }), at - 1)).toBe(true);
  expect(isOpen(rules("", { locks_at: lock }), at)).toBe(false);
  expect(isOpen(rules("", { by_students: false }), at)).toBe(false);
  expect(isOpen(rules(""), at)).toBe(true);
  expect(isOpen(undefined, at)).toBe(false);
});

test("who is in no group of a scope", () => {
  const people = ["a", "b", "c"].map((login) => ({ login, role: "student", state: "active" }));
  people.push({ login: "t", role: "teacher", state: "active" }, { login: "x", role: "student", state: "suspended" });
  expect(alone(people, [group(1, "", ["a"]), group(2, "lab1", ["b"])], "").map((one) => one.login)).toEqual(["b", "c"]);
});
