/** Sends a file in pieces; what is on the server already is not sent again. */
export interface Remote {
  id: string;
  received: number;
  piece: number;
}

export interface Wire {
  start: () => Promise<Remote>;
  /** How much is there; null when the server has forgotten it. */
  look: (id: string) => Promise<Remote | null>;
  send: (id: string, offset: number, piece: Blob) => Promise<Remote>;
  wait: (seconds: number) => Promise<void>;
  /** Whether trying again can help. */
  passing: (error: unknown) => boolean;
}

export interface Progress {
  sent: number;
  /** Seconds until the next try, while the line is broken. */
  pause: number | null;
}

const PAUSES = [1, 2, 5, 10, 20, 30];

/** The id of the complete upload. Tries on for as long as it can help, unless `signal` is aborted. */
export async function sendInPieces(
  file: Blob,
  known: string | null,
  wire: Wire,
  onStart: (id: string) => void,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  let remote = (known && (await patiently(() => wire.look(known)))) || null;
  remote ??= await patiently(wire.start);
  onStart(remote.id);
  onProgress({ sent: remote.received, pause: null });
  while (remote.received < file.size) {
    const { id, received, piece }: Remote = remote;
    const next: Remote | null = await patiently(
      () => wire.send(id, received, file.slice(received, received + piece)),
      () => wire.look(id),
    );
    if (next === null) throw new Error("the upload is gone");
    remote = next;
    onProgress({ sent: remote.received, pause: null });
  }
  return remote.id;

  /** `call`, or after a break what `look` says instead. */
  async function patiently<T>(call: () => Promise<T>, look: () => Promise<T> = call): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      if (signal.aborted) throw signal.reason;
      try {
        return await (tries === 0 ? call() : look());
      } catch (error) {
        if (!wire.passing(error)) throw error;
        const pause = PAUSES[Math.min(tries, PAUSES.length - 1)] as number;
        onProgress({ sent: remote?.received ?? 0, pause });
        await wire.wait(pause);
      }
    }
  }
}
