import { expect, test } from "vitest";
import { fitting, type Person, withoutCode } from "./filter";

function person(login: string, more: Partial<Person> = {}): Person {
  return {
    login,
    name: login,
    student_number: null,
    alias: "",
    email: null,
    role: "student",
    section: "1",
    state: "active",
    activated: true,
    ...more,
  };
}

const CLASS = [
  person("2023001", { name: "欧阳娜娜", student_number: "2023001" }),
  person("2023002", { name: "Zhang San", section: "2", activated: false }),
  person("2023003", { state: "suspended", activated: false }),
  person("lee", { name: "李老师", role: "teacher", activated: false }),
];

test.each([
  ["娜娜", ["2023001"]],
  ["２０２３００２", ["2023002"]],
  ["san ZHANG", ["2023002"]],
  ["", ["2023001", "2023002", "2023003", "lee"]],
  ["nobody", []],
])("words %s", (words, logins) => {
  expect(fitting(CLASS, { words }).map((one) => one.login)).toEqual(logins);
});

test("role, section and state narrow it down", () => {
  expect(fitting(CLASS, { words: "", role: "teacher" }).map((one) => one.login)).toEqual(["lee"]);
  expect(fitting(CLASS, { words: "", section: "2" }).map((one) => one.login)).toEqual(["2023002"]);
  expect(fitting(CLASS, { words: "", state: "suspended" }).map((one) => one.login)).toEqual(["2023003"]);
  expect(fitting(CLASS, { words: "", state: "waiting" }).map((one) => one.login)).toEqual(["2023002", "lee"]);
});

test("codes are for students who are in the class and never signed in", () => {
  expect(withoutCode(CLASS)).toBe(1);
});
