import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LiveEvent, LiveStream } from "./stream";

/** A connection whose other end the test holds. */
class Line {
  readyState = 0;
  closed = false;
  onmessage: ((message: { data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  private begun: () => void = () => undefined;

  constructor(readonly address: string) {}
  addEventListener(_name: string, listener: () => void) {
    this.begun = listener;
  }
  close() {
    this.closed = true;
  }
  begin() {
    this.begun();
  }
  say(event: LiveEvent) {
    this.onmessage?.({ data: JSON.stringify(event) });
  }
  fail(isOver = false) {
    this.readyState = isOver ? 2 : 0;
    this.onerror?.();
  }
}

const event = (id: number, topic = "me"): LiveEvent => ({ id, topic, at: "", kind: "job", payload: {} });

describe("the live stream", () => {
  let lines: Line[];
  let recent: LiveEvent[];
  let asked: string[];
  let stream: LiveStream;
  let heard: number[];
  const listen = (...topics: string[]) => stream.listen(topics, (one) => heard.push(one.id));
  const last = () => lines.at(-1) as Line;

  beforeEach(() => {
    vi.useFakeTimers();
    [lines, recent, asked, heard] = [[], [], [], []];
    stream = new LiveStream(
      (address) => {
        const line = new Line(address);
        lines.push(line);
        return line as unknown as EventSource;
      },
      async (address) => {
        asked.push(address);
        return recent;
      },
    );
    stream.begin(10);
  });
  afterEach(() => vi.useRealTimers());

  it("is one for all topics that pages ask for in one stroke", async () => {
    listen("me");
    listen("job:j-1");
    await vi.advanceTimersByTimeAsync(100);
    expect(lines.map((line) => line.address)).toEqual(["/api/events?topics=job%3Aj-1%2Cme&after=10"]);
  });

  it("goes on from the last event when another page asks for more", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    last().begin();
    last().say(event(12));
    listen("cohort:ai");
    await vi.advanceTimersByTimeAsync(100);
    expect(lines[0]?.closed).toBe(true);
    expect(last().address).toContain("after=12");
    last().say(event(12));
    last().say(event(13, "cohort:ai"));
    expect(heard).toEqual([12, 13]);
  });

  it("tells of a restart of the server, and is live again when that is over", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    last().begin();
    expect(stream.state).toBe("live");
    last().fail();
    expect(stream.state).toBe("away");
    last().begin();
    expect(stream.state).toBe("live");
  });

  it("opens anew when the browser has given up", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    last().begin();
    last().say(event(11));
    last().fail(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lines).toHaveLength(2);
    expect(last().address).toContain("after=11");
  });

  it("goes back to the stream after a long restart", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    last().begin();
    for (let failure = 0; failure < 4; failure += 1) last().fail();
    recent = [event(11)];
    await vi.advanceTimersByTimeAsync(100); // asked, answered: the server is back
    expect(heard).toEqual([11]);
    expect(lines).toHaveLength(2);
    last().begin();
    expect(stream.state).toBe("live");
  });

  it("asks in turns where nothing comes through, and tries the stream again ever more rarely", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    recent = [event(11)];
    await vi.advanceTimersByTimeAsync(10_100); // no first message
    expect(lines[0]?.closed).toBe(true);
    expect(stream.state).toBe("asking");
    expect(heard).toEqual([11]);
    recent = [event(11), event(12)];
    await vi.advanceTimersByTimeAsync(10_000); // the second stream is held back as well
    expect(heard).toEqual([11, 12]);
    expect(asked.at(-1)).toContain("/api/events/recent?topics=me&after=11");
    expect(lines).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lines.length).toBeLessThan(10);
    expect(asked.length).toBeGreaterThan(60);
    while (stream.state === "asking" && last().closed) await vi.advanceTimersByTimeAsync(1000);
    const before = asked.length;
    last().begin();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stream.state).toBe("live");
    expect(asked).toHaveLength(before);
  });

  it("lets go of its connection while the tab is hidden", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    last().begin();
    stream.hidden(true);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(last().closed).toBe(true);
    stream.hidden(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(lines).toHaveLength(2);
  });

  it("remembers nothing after a sign-out", async () => {
    listen("me");
    await vi.advanceTimersByTimeAsync(100);
    stream.reset();
    expect([last().closed, stream.last, stream.state]).toEqual([true, null, "idle"]);
  });
});
