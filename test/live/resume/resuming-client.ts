// A client of the test that goes on with its session on socket after socket, by the words of the API alone.
import { setImmediate } from 'node:timers/promises';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import type { LiveClient } from '../../fakes/processes/live-gateway.ts';

type Connect = (query: Record<string, string>) => LiveClient;

export class ResumingClient {
  /** As a client keeps them: every event of the session, in order. */
  readonly events: ServerEvent[] = [];
  readonly #audio: Uint8Array;
  readonly #query: Record<string, string>;
  #token = '';

  constructor(audio: Uint8Array, query: Record<string, string>) {
    this.#audio = audio;
    this.#query = query;
  }

  get lastSeq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  get finals() {
    return this.events.filter((event) => event.type === 'transcript').filter((event) => event.is_final);
  }

  get ended() {
    return this.events.find((event) => event.type === 'session_ended');
  }

  /**
   * One socket: sends audio in chunks from where the gateway says that it has it, and is cut when so many chunks are sent and so many
   * turns of the event loop are over. Resolves with the close code when the socket has closed.
   */
  async socket(connect: Connect, chunkBytes: number, cut?: { chunks: number; turns: number }): Promise<number> {
    const isFirst = this.#token === '';
    const query = isFirst ? { ...this.#query, resume: 'on' } : { resume: this.#token, last_seq: String(this.lastSeq) };
    const client = connect(query);
    let at = 0;
    if (isFirst) this.#token = (await client.event('session_started')).resume_token ?? '';
    else {
      const resumed = await client.event('session_resumed');
      if (resumed.next_seq !== this.lastSeq + 1) throw new Error(`${resumed.next_seq} follows ${this.lastSeq}`);
      at = resumed.received_bytes;
    }
    for (let chunk = 0; at < this.#audio.length && chunk !== cut?.chunks; chunk++, at += chunkBytes)
      client.send(this.#audio.subarray(at, at + chunkBytes));
    if (cut === undefined) client.send({ type: 'close' });
    else {
      for (let turn = 0; turn < cut.turns; turn++) await setImmediate();
      client.socket.terminate();
    }
    const { code } = await client.close();
    this.#take(client.events);
    return code;
  }

  #take(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.type === 'session_resumed') continue;
      if (event.seq !== this.lastSeq + 1) throw new Error(`Event ${event.seq} follows ${this.lastSeq}`);
      this.events.push(event);
    }
  }
}
