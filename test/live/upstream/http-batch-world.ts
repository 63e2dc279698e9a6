// A job of one file at the scripted provider, under a simulated clock, with everything that it may leave behind in sight.
import { afterEach, expect } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type HttpBatchRequest, runHttpBatch } from '../../../src/live/upstream/http/batch-codec.ts';
import { HttpPools, type HttpPoolsOptions } from '../../../src/live/upstream/http/pools.ts';
import { LegFailed } from '../../../src/live/upstream/leg-failures.ts';
import type { BatchRequest, HttpBatchCodec } from '../../../src/vendors/kit/provider.ts';
import { timersOf } from '../session/support.ts';
import { type Answer, answer, HttpProvider, SECRET, scriptedCodec } from './http-batch-fixture.ts';

/** Called after each test. */
export const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export const AUDIO = Buffer.from('the audio of a file');

export async function* chunksOf(bytes: Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export class World {
  readonly clock = new SimulatedClock();
  readonly pools: HttpPools;
  readonly provider: HttpProvider;
  readonly faults: string[] = [];
  /** Of the runs that begin from now on. */
  end = new AbortController();

  constructor(provider: HttpProvider, pools: HttpPoolsOptions) {
    this.provider = provider;
    this.pools = new HttpPools(pools);
  }

  run(
    codec: HttpBatchCodec,
    read: () => AsyncIterable<Uint8Array> = () => chunksOf(AUDIO),
    file: Partial<BatchRequest['file']> = {},
    { baseUrl = this.provider.url, organisationId = 'org_a' } = {},
  ) {
    const request: HttpBatchRequest = {
      organisationId,
      model: 'one',
      language: undefined,
      diarization: false,
      wordTimestamps: false,
      params: { prompt: 'names: Zoë' },
      access: { baseUrl, credential: SECRET },
      file: { name: 'audio.wav', contentType: 'audio/wav', bytes: undefined, seconds: undefined, ...file },
    };
    return runHttpBatch(codec, request, read, this.end.signal, {
      pools: this.pools,
      clock: this.clock,
      onFault: (name) => this.faults.push(name),
    });
  }

  /** The failure that a run ends in. */
  async failure(codec = scriptedCodec(), ...rest: [read?: () => AsyncIterable<Uint8Array>]) {
    const error: unknown = await this.run(codec, ...rest).catch((thrown: unknown) => thrown);
    if (!(error instanceof LegFailed)) throw error;
    return error.failure;
  }

  /** Nothing is under way: no timer, and no connection once the pools are closed. */
  async expectNothingLeft(): Promise<void> {
    await this.pools.close();
    await this.provider.until(() => this.provider.sockets.size === 0);
    expect([timersOf(this.clock), this.pools.connections]).toEqual([0, 0]);
  }
}

export async function world(
  answers: Answer[] = [answer({ text: 'hello' })],
  pools: HttpPoolsOptions = {},
): Promise<World> {
  const provider = await new HttpProvider(...answers).listen();
  const made = new World(provider, pools);
  closers.push(
    () => made.pools.close(),
    () => provider.close(),
  );
  return made;
}
