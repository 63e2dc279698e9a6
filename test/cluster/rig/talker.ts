// A client that says numbered audio in real time and keeps what it is told: which samples came back in finals, exactly.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import WebSocket from 'ws';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { sendInRealTime } from '../../../src/cli/shared/live-client.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole, type NumberedFinal } from '../../fakes/audio/numbered-finals.ts';
import { MODEL } from './cluster.ts';

const RATE = 16_000;
const BYTES_PER_SECOND = RATE * 2;

type EventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

export interface Speech {
  url: string;
  key: string;
  /** Of the whole speech. */
  seconds: number;
  turnSeconds?: number;
  /** Numbered audio of that length, where many say the same. */
  audio?: Uint8Array;
  query?: Record<string, string>;
}

export class Talker {
  readonly events: ServerEvent[] = [];
  /** When each event came, on the clock of `performance.now`. */
  readonly times: number[] = [];
  closed: { code: number; reason: string } | undefined;
  /** Why it was not let in. */
  private refusal: string | undefined;
  sentBytes = 0;
  private readonly socket: WebSocket;
  private readonly audio: Uint8Array;
  private readonly watchers = new Set<() => void>();

  private constructor({ url, key, seconds, turnSeconds = 2, audio, query = {} }: Speech) {
    this.audio = audio ?? numberedAudio(0, Math.round(seconds * RATE));
    const params = new URLSearchParams({
      model: MODEL,
      provider_params: JSON.stringify({ turn_seconds: turnSeconds }),
      ...query,
    });
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/v1/listen?${params}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    this.socket.on('error', () => {});
    this.socket.on('unexpected-response', async (_, response) => {
      this.refusal = await text(response);
      this.socket.terminate();
    });
    this.socket.on('message', (data) => {
      this.events.push(JSON.parse(String(data)) as ServerEvent);
      this.times.push(performance.now());
      this.tell();
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.tell();
    });
  }

  /** Begins to speak when the session has started. */
  static async begin(speech: Speech): Promise<Talker> {
    const talker = new Talker(speech);
    await talker.event('session_started');
    sendInRealTime(talker.socket, talker.audio, BYTES_PER_SECOND, (bytes) => {
      talker.sentBytes = bytes;
      talker.tell();
    });
    return talker;
  }

  get sessionId(): string {
    return this.of('session_started')[0]?.session_id ?? '';
  }

  of<Type extends ServerEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  get finals(): NumberedFinal[] {
    return this.of('transcript').filter((event) => event.is_final) as unknown as NumberedFinal[];
  }

  /** When each final came. */
  get finalTimes(): number[] {
    return this.times.filter((_, index) => {
      const event = this.events[index];
      return event?.type === 'transcript' && event.is_final;
    });
  }

  event<Type extends ServerEvent['type']>(type: Type): Promise<EventOf<Type>> {
    return this.until(() => this.of(type)[0], `the event "${type}"`);
  }

  /** Resolves when so many finals have come. */
  heardFinals(count: number): Promise<true> {
    return this.until(() => (this.finals.length >= count ? true : undefined), `${count} finals`);
  }

  /** Resolves when so much was sent. */
  said(seconds: number): Promise<true> {
    const bytes = Math.min(this.audio.length, seconds * BYTES_PER_SECOND);
    return this.until(() => (this.sentBytes >= bytes ? true : undefined), `${seconds} s of audio`);
  }

  /** Says everything, ends in order, and resolves with the last event; every sample must be in exactly one final. */
  async finish(): Promise<EventOf<'session_ended'>> {
    await this.said(Number.POSITIVE_INFINITY);
    this.socket.send('{"type":"close"}');
    const ended = await this.event('session_ended');
    expectWhole(this.finals, this.audio.length / 2);
    return ended;
  }

  async close(): Promise<{ code: number; reason: string }> {
    if (this.closed === undefined) await once(this.socket, 'close');
    return this.closed as { code: number; reason: string };
  }

  private until<Value>(look: () => Value | undefined, what: string): Promise<Value> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        const found = look();
        if (found !== undefined) resolve(found);
        else if (this.closed !== undefined)
          reject(
            new Error(
              `Closed with ${this.closed.code} before ${what}: ${this.refusal ?? JSON.stringify(this.events.at(-1))}`,
            ),
          );
        else return;
        this.watchers.delete(watch);
      };
      this.watchers.add(watch);
      watch();
    });
  }

  private tell(): void {
    for (const watch of [...this.watchers]) watch();
  }
}
