import { expect, it } from "vitest";
import { handInPieces, type Progress, type Remote, type Wire } from "./pieces";

class Broken extends Error {}

/** A server that keeps bytes; `breaks` names the calls (counted from 1) whose answer gets lost. */
class Server implements Wire<string> {
  kept = "";
  calls = 0;
  waited: number[] = [];
  forgotten = false;
  handedIn: string | null = null;

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
  finish = async (id: string) => {
    if (id === "u-1" && this.kept) this.handedIn ??= this.kept;
    if (this.breaks.includes(++this.calls)) throw new Broken("lost");
    return this.handedIn;
  };
  wait = async (seconds: number) => {
    this.waited.push(seconds);
  };
  passing = (error: unknown): boolean => error instanceof Broken;
}

const FILE = new Blob(["0123456789"]);
const running = () => new AbortController().signal;
const watch = { onStart: () => undefined, onProgress: () => undefined, onSent: () => undefined };

it("sends a file piece by piece", async () => {
  const server = new Server();
  const told: Progress[] = [];
  const onProgress = (one: Progress) => void told.push(one);
  expect(await handInPieces(FILE, null, server, { ...watch, onProgress }, running())).toBe("0123456789");
  expect(told.map((one) => one.sent)).toEqual([0, 4, 8, 10]);
});

it("asks how much is there after a break, and doubles nothing", async () => {
  const server = new Server([1, 3, 4]);
  expect(await handInPieces(FILE, null, server, watch, running())).toBe("0123456789");
  expect(server.waited).toEqual([1, 1, 2]);
});

it("asks again what came of it when only the last answer was lost", async () => {
  const server = new Server([5]);
  expect(await handInPieces(FILE, null, server, watch, running())).toBe("0123456789");
  expect(server.waited).toEqual([1]);
});

it("goes on with what an earlier page had sent", async () => {
  const server = new Server([], "012345");
  expect(await handInPieces(FILE, "u-1", server, watch, running())).toBe("0123456789");
  expect(server.calls).toBe(3);
});

it("finds what an earlier page had handed in without hearing of it, and sends nothing", async () => {
  const server = new Server([], "0123456789");
  server.forgotten = true;
  expect(await handInPieces(FILE, "u-1", server, watch, running())).toBe("0123456789");
  expect(server.calls).toBe(1);
});

it("begins anew when the server has forgotten it", async () => {
  const server = new Server();
  server.forgotten = true;
  expect(await handInPieces(FILE, "u-0", server, watch, running())).toBe("0123456789");
});

it("gives up where trying again cannot help, and when it is stopped", async () => {
  const server = new Server();
  server.passing = () => false;
  server.breaks.push(2);
  await expect(handInPieces(FILE, null, server, watch, running())).rejects.toThrow("lost");
  await expect(handInPieces(FILE, null, new Server(), watch, AbortSignal.abort())).rejects.toThrow();
});
