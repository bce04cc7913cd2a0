import { expect, it } from "vitest";
import { type Progress, type Remote, sendInPieces, type Wire } from "./pieces";

class Broken extends Error {}

/** A server that keeps bytes; `breaks` names the calls (counted from 1) whose answer gets lost. */
class Server implements Wire {
  kept = "";
  calls = 0;
  waited: number[] = [];
  forgotten = false;

  constructor(
    readonly breaks: number[] = [],
    kept = "",
  ) {
    this.kept = kept;
  }

  private answer(): Remote {
    this.calls += 1;
    if (this.breaks.includes(this.calls)) throw new Broken("lost");
    return { id: "u-1", received: this.kept.length, piece: 4 };
  }

  start = async () => this.answer();
  look = async () => (this.forgotten ? null : this.answer());
  send = async (_: string, offset: number, piece: Blob) => {
    if (offset === this.kept.length) this.kept += await piece.text();
    return this.answer();
  };
  wait = async (seconds: number) => {
    this.waited.push(seconds);
  };
  passing = (error: unknown): boolean => error instanceof Broken;
}

const FILE = new Blob(["0123456789"]);
const running = () => new AbortController().signal;
const nothing = () => undefined;

it("sends a file piece by piece", async () => {
  const server = new Server();
  const told: Progress[] = [];
  expect(await sendInPieces(FILE, null, server, nothing, (one) => told.push(one), running())).toBe("u-1");
  expect(server.kept).toBe("0123456789");
  expect(told.map((one) => one.sent)).toEqual([0, 4, 8, 10]);
});

it("asks how much is there after a break, and doubles nothing", async () => {
  const server = new Server([1, 3, 4]);
  await sendInPieces(FILE, null, server, nothing, nothing, running());
  expect(server.kept).toBe("0123456789");
  expect(server.waited).toEqual([1, 1, 2]);
});

it("goes on with what an earlier page had sent", async () => {
  const server = new Server([], "012345");
  await sendInPieces(FILE, "u-1", server, nothing, nothing, running());
  expect(server.kept).toBe("0123456789");
  expect(server.calls).toBe(2);
});

it("begins anew when the server has forgotten it", async () => {
  const server = new Server();
  server.forgotten = true;
  await sendInPieces(FILE, "u-0", server, nothing, nothing, running());
  expect(server.kept).toBe("0123456789");
});

it("gives up where trying again cannot help, and when it is stopped", async () => {
  const server = new Server();
  server.passing = () => false;
  server.breaks.push(2);
  await expect(sendInPieces(FILE, null, server, nothing, nothing, running())).rejects.toThrow("lost");
  await expect(sendInPieces(FILE, null, new Server(), nothing, nothing, AbortSignal.abort())).rejects.toThrow();
});
