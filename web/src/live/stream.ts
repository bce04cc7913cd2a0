/**
 * One stream a tab for all that its pages want to hear of.
 *
 * It resumes from the last event, lets go of its connection while the tab is hidden (a browser has six for a
 * host), and asks in turns where a proxy keeps the stream back.
 */
export interface LiveEvent {
  id: number;
  at: string;
  topic: string;
  kind: string;
  payload: Record<string, unknown>;
}

export type State = "idle" | "live" | "away" | "asking";
type Listener = (event: LiveEvent) => void;
type Open = (address: string) => EventSource;

const HIDDEN = 30_000;
const POLL = 5_000;
const FAILURES = 4;
/** The server's first message comes at once, unless something on the way holds the stream back. */
const BEGINS = 10_000;
/** After so many rounds of asking the stream is tried again, then after twice as many, and so on. */
const PATIENCE = 1;
const MOST_PATIENCE = 32;
const SETTLE = 50;

export class LiveStream {
  state: State = "idle";
  last: number | null = null;
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly watchers = new Set<() => void>();
  private source: EventSource | null = null;
  private opened = "";
  /** Rises with each connection that ends: an answer that comes for an earlier one is dropped. */
  private turn = 0;
  private failures = 0;
  private patience = PATIENCE;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private polling: ReturnType<typeof setTimeout> | undefined;
  private beginning: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly open: Open = (address) => new EventSource(address),
    private readonly ask: (address: string) => Promise<LiveEvent[]> = askRecent,
  ) {}

  /** What a page was told by other ways it was told at event `after`: the stream goes on from there. */
  begin(after: number): void {
    this.last ??= after;
  }

  /** Hear of `topics`; returns the way to stop. */
  listen(topics: readonly string[], listener: Listener): () => void {
    for (const topic of topics) {
      const those = this.listeners.get(topic) ?? new Set();
      those.add(listener);
      this.listeners.set(topic, those);
    }
    this.settle();
    return () => {
      for (const topic of topics) {
        const those = this.listeners.get(topic);
        those?.delete(listener);
        if (those?.size === 0) this.listeners.delete(topic);
      }
      this.settle();
    };
  }

  /** Be told when `state` changes. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  hidden(isHidden: boolean): void {
    clearTimeout(this.hiding);
    if (isHidden) this.hiding = setTimeout(() => this.close("idle"), HIDDEN);
    else if (this.source === null) this.settle();
  }

  /** After a sign-out: nothing is heard or remembered. */
  reset(): void {
    this.close("idle");
    this.last = null;
  }

  private topics(): string {
    return [...this.listeners.keys()].sort().join(",");
  }

  private settle(): void {
    // Pages come and go in one stroke: one stream for where it ends.
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const topics = this.topics();
      if (topics === this.opened && (this.source !== null || this.polling !== undefined)) return;
      this.close(topics ? this.state : "idle");
      if (topics) this.connect(topics);
    }, SETTLE);
  }

  private address(path: string, topics: string): string {
    const after = this.last === null ? "" : `&after=${this.last}`;
    return `${path}?topics=${encodeURIComponent(topics)}${after}`;
  }

  private connect(topics: string): void {
    this.opened = topics;
    const source = this.open(this.address("/api/events", topics));
    this.source = source;
    this.beginning = setTimeout(() => this.poll(topics), BEGINS);
    source.addEventListener("begun", () => {
      clearTimeout(this.beginning);
      this.failures = 0;
      this.patience = PATIENCE;
      this.tell("live");
    });
    source.onmessage = (message) => this.take(JSON.parse(message.data as string) as LiveEvent);
    source.onerror = () => {
      clearTimeout(this.beginning);
      this.tell("away");
      this.failures += 1;
      if (this.failures >= FAILURES) this.poll(topics);
      else if (source.readyState === 2) {
        this.close("away");
        this.polling = setTimeout(() => this.connect(topics), 1000 * this.failures);
      } else this.beginning = setTimeout(() => this.poll(topics), BEGINS); // the browser tries again by itself
    };
  }

  private poll(topics: string): void {
    this.close("away");
    this.opened = topics;
    const turn = this.turn;
    let rounds = 0;
    const round = async () => {
      try {
        const events = await this.ask(this.address("/api/events/recent", topics));
        if (turn !== this.turn) return;
        for (const event of events) this.take(event);
        this.tell("asking");
        rounds += 1;
      } catch {
        if (turn !== this.turn) return;
        this.tell("away");
      }
      if (rounds >= this.patience) {
        this.failures = FAILURES - 1; // one failure more, and we ask again
        this.patience = Math.min(2 * this.patience, MOST_PATIENCE);
        this.close("asking");
        this.connect(topics);
      } else this.polling = setTimeout(round, POLL);
    };
    this.polling = setTimeout(round, 0);
  }

  private take(event: LiveEvent): void {
    if (this.last !== null && event.id <= this.last) return;
    this.last = event.id;
    for (const listener of [...(this.listeners.get(event.topic) ?? [])]) listener(event);
  }

  private close(state: State): void {
    clearTimeout(this.polling);
    clearTimeout(this.beginning);
    this.polling = undefined;
    this.source?.close();
    this.source = null;
    this.turn += 1;
    this.opened = "";
    this.tell(state);
  }

  private tell(state: State): void {
    if (state === this.state) return;
    this.state = state;
    for (const watcher of this.watchers) watcher();
  }
}

async function askRecent(address: string): Promise<LiveEvent[]> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as LiveEvent[];
}

export const live = new LiveStream();
document.addEventListener("visibilitychange", () => live.hidden(document.hidden));
