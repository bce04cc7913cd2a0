import { expect, it } from "vitest";
import { deviceOf } from "./device";

it.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
    "Chrome · Linux",
  ],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge · Windows"],
  ["Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/140.0 MicroMessenger/8.0", "WeChat · Android"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari · iPhone"],
])("names %s", (agent, name) => {
  expect(deviceOf(agent)).toBe(name);
});

it("admits that it does not know", () => {
  expect(deviceOf("curl")).toBeNull();
});
