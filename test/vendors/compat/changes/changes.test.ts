// What other vendors' clients change while a session goes on, through a whole gateway: each change is answered once and in order, in the
// vendor's own shape, the model is asked for it, and no sample is lost or told twice.
import { describe, expect, it } from 'vitest';
import { CHANGES_WAITING_MAX } from '../../../../src/live/socket/asked-changes.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { LiveClient } from '../../../fakes/processes/live-gateway.ts';
import { gapsIn } from '../../../simulation/whole.ts';
import { startDialectRig } from '../rig.ts';
import { type Message, VENDORS, type VendorClient } from './vendors.ts';

const MODEL = 'deepgram/nova-3';
const RATE = 16_000;
const PIECE = 2_401;
/** Its last words are not too close to its end for clients of OpenAI, who commit it. */
const PART = 1.2 * RATE;

const rig = startDialectRig();

class Client {
  readonly #vendor: VendorClient;
  readonly #client: LiveClient;
  /** Turns that were ended. */
  #ended = 0;

  constructor(vendor: VendorClient) {
    this.#vendor = vendor;
    const { url, key } = rig.gateway;
    this.#client = new LiveClient(`${url.replace('http', 'ws')}${vendor.path}`, [], {
      headers: { Authorization: `Bearer ${key}`, 'xi-api-key': key },
    });
  }

  async opened(): Promise<this> {
    await this.#client.opened();
    for (const message of this.#vendor.first) this.#client.send(message);
    await this.told(this.#vendor.opened);
    return this;
  }

  get messages(): Message[] {
    return this.#client.events as unknown as Message[];
  }

  matching(expected: Message): Message[] {
    return this.messages.filter((message) =>
      Object.entries(expected).every(([name, value]) => same(message[name], value)),
    );
  }

  told(matches: (message: Message) => boolean): Promise<unknown> {
    return this.#client.until(() => this.messages.find(matches), 'the message');
  }

  answered(expected: Message, count = 1): Promise<unknown> {
    return this.#client.until(() => this.matching(expected)[count - 1], JSON.stringify(expected));
  }

  say(...messages: readonly object[]): void {
    for (const message of messages) {
      if (message === this.#vendor.finalize) this.#ended++;
      this.#client.send(message);
    }
  }

  speak(from: number, to: number): void {
    for (let at = from; at < to; at += PIECE)
      this.#client.send(this.#vendor.audio(numberedAudio(at, Math.min(to, at + PIECE))));
  }

  get texts(): string[] {
    return this.messages.flatMap((message) => this.#vendor.final(message) ?? []);
  }

  async close(samples: number): Promise<string[]> {
    const { close, finalize } = this.#vendor;
    this.say(close ?? finalize);
    if (close !== undefined) await this.#client.close();
    else {
      const isOver = () => (this.texts.length === this.#ended ? true : undefined);
      await this.#client.until(isOver, 'the finals');
      this.#client.socket.close();
    }
    const finals = this.texts.map((text, turn) => ({ text, turn, end: Number.NaN }));
    return gapsIn(finals, samples, RATE, [MODEL]);
  }
}

const same = (value: unknown, expected: unknown): boolean => JSON.stringify(value) === JSON.stringify(expected);
const askedFor = (asked: Readonly<Record<string, string>>): URL[] =>
  rig.asked.filter(({ searchParams }) =>
    Object.entries(asked).every(([name, value]) => searchParams.getAll(name).includes(value)),
  );

describe.concurrent.each(VENDORS)('a client of $vendor', (vendor) => {
  const { bad, refusal, finalize } = vendor;
  const changeTo = (language: string) => ({
    change: vendor.change(language),
    answer: vendor.answer?.(language),
    asked: vendor.asked(language),
  });

  it('changes a session in the middle of its audio', async () => {
    const { change, answer, asked } = changeTo(vendor.languages[0]);
    const client = await new Client(vendor).opened();
    client.speak(0, PART);
    client.say(finalize, change);
    client.speak(PART, 2 * PART);
    // Answered behind the change, whatever that is answered with.
    client.say(finalize, bad);
    await client.answered(refusal);
    client.speak(2 * PART, 3 * PART);
    expect(await client.close(3 * PART)).toEqual([]);
    expect(askedFor(asked)).toHaveLength(1);
    if (answer !== undefined) expect(client.messages.filter(answer)).toHaveLength(1);
    expect(client.matching(refusal)).toHaveLength(1);
  });

  it('gets one answer per change, in order, with as few requests to the model as possible', async () => {
    const { change, answer, asked } = changeTo(vendor.languages[1]);
    const client = await new Client(vendor).opened();
    client.say(change, bad, change, bad, change, bad);
    await client.answered(refusal, 3);
    const answers = client.messages.flatMap((message) => {
      if (client.matching(refusal).includes(message)) return ['refused'];
      return answer?.(message) === true ? ['changed'] : [];
    });
    const each = answer === undefined ? ['refused'] : ['changed', 'refused'];
    expect(answers).toEqual([...each, ...each, ...each]);
    expect(askedFor(asked)).toHaveLength(1);
    client.speak(0, PART);
    expect(await client.close(PART)).toEqual([]);
  });

  it('gets an error for changes beyond the bound, and continues', async () => {
    const client = await new Client(vendor).opened();
    client.say(...Array.from({ length: CHANGES_WAITING_MAX + 10 }, () => bad));
    await client.answered(refusal, CHANGES_WAITING_MAX);
    client.speak(0, PART);
    expect(await client.close(PART)).toEqual([]);
  });
});
