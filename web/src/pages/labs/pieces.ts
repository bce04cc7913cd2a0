/** Sends a file in pieces; what is on the server already is not sent again. */
export interface Remote {
  id: string;
  received: number;
  piece: number;
}

export interface Wire<T> {
  start: () => Promise<Remote>;
  /** How much is there; null when the server has forgotten it. */
  look: (id: string) => Promise<Remote | null>;
  send: (id: string, offset: number, piece: Blob) => Promise<Remote>;
  /** Hand the complete file in; asked again it is the same. Null when the server does not know it. */
  finish: (id: string) => Promise<T | null>;
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

interface Watch {
  onStart: (id: string) => void;
  onProgress: (progress: Progress) => void;
  onSent: () => void;
}

/**
 * What came of handing `file` in. Tries on for as long as it can help, unless `signal` is aborted.
 *
 * `known`: the upload that an earlier page began with the same file. It may also be handed in already, with an
 * answer that never came: then that is the answer.
 */
export async function handInPieces<T>(
  file: Blob,
  known: string | null,
  wire: Wire<T>,
  { onStart, onProgress, onSent }: Watch,
  signal: AbortSignal,
): Promise<T> {
  let remote: Remote | null = null;
  if (known !== null) {
    remote = await patiently(() => wire.look(known));
    const done = remote === null ? await patiently(() => wire.finish(known)) : null;
    if (done !== null) return done;
  }
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
  onSent();
  const { id } = remote;
  const handed = await patiently(() => wire.finish(id));
  if (handed === null) throw new Error("the upload is gone");
  return handed;

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
