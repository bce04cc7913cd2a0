import type { Schemas } from "@/api/client";

export type Person = Schemas["Person"];
export type Standing = "active" | "waiting" | "suspended";

export interface Wanted {
  words: string;
  role?: string;
  section?: string;
  state?: Standing;
}

/** Who is in the class and has a password, who has none yet, who is suspended. */
export function standing(person: Person): Standing {
  if (person.state !== "active") return "suspended";
  return person.activated ? "active" : "waiting";
}

/** The people that are looked for; every word must be found somewhere, full-width letters like plain ones. */
export function fitting(people: readonly Person[], wanted: Wanted): Person[] {
  const words = plain(wanted.words).split(/\s+/).filter(Boolean);
  return people.filter((person) => {
    if (wanted.role && person.role !== wanted.role) return false;
    if (wanted.section && person.section !== wanted.section) return false;
    if (wanted.state && standing(person) !== wanted.state) return false;
    const told = plain([person.name, person.login, person.student_number, person.alias, person.email].join(" "));
    return words.every((word) => told.includes(word));
  });
}

/** Students who get a code when codes are printed for all. */
export function withoutCode(people: readonly Person[]): number {
  return people.filter((person) => person.role === "student" && standing(person) === "waiting").length;
}

function plain(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
