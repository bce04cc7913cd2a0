import { describe, expect, it } from "vitest";
import { ApiError } from "@/api/client";
import { guideFor } from "./guide";

const refusal = (code: string, details = {}) => new ApiError(422, code, "no", null, details);

describe("the guide's page for a refusal", () => {
  it("is chosen by the reason before the code", () => {
    expect(guideFor(refusal("over_limit", { reason: "no_tries_left" }))).toBe("hand-in");
    expect(guideFor(refusal("over_limit"))).toBe("cards");
  });
  it("is the server's own choice where it makes one that exists", () => {
    expect(guideFor(refusal("refused", { guide: "debug" }))).toBe("debug");
    expect(guideFor(refusal("refused", { guide: "//evil.example" }))).toBe("hand-in");
  });
  it("is the beginning for anything else", () => {
    expect(guideFor(refusal("conflict"))).toBe("start");
  });
  it("is none where nobody is signed in yet, or the server is away", () => {
    expect(guideFor(refusal("not_signed_in"))).toBeNull();
    expect(guideFor(refusal("over_limit", { reason: "sign_in_limit" }))).toBeNull();
    expect(guideFor(refusal("unreachable"))).toBeNull();
  });
});
