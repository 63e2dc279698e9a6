// How a session turns to what its client asks for anew: on the open leg where that can be changed, else at the end of the turn.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { apiError } from '../../../../src/api/errors.ts';
import type { Configure } from '../../../../src/api/listen.ts';
import type { ResolvedCandidate } from '../../../../src/live/failover/chain.ts';
import { Reconfiguration } from '../../../../src/live/session/reconfiguration.ts';
import type { Configuration, SessionOpening } from '../../../../src/live/session/session-opening.ts';
import { Signals } from '../../../../src/live/session/signals.ts';
import { providers } from '../../../../src/vendors/index.ts';

const MODEL = 'loopback/script';
const provider = providers.find(({ name }) => name === 'loopback');
const card = provider?.models.find(({ id }) => id === MODEL);
const member = {
  slug: MODEL,
  provider,
  card,
  params: { keyterm: ['gate'] },
  sampleRate: 16_000,
} as unknown as ResolvedCandidate;

interface Circumstances {
  streaming?: boolean;
  /** The breaker of the first model is open. */
  broken?: boolean;
  /** The open leg is that of the new chain already. */
  already?: boolean;
  /** The leg is asked at all. */
  asks?: boolean;
  configure?(asked: Configure): Promise<Configuration | undefined>;
}

function started({ streaming = true, broken = false, already = false, asks = true, configure }: Circumstances = {}) {
  const clock = new SimulatedClock();
  const told: unknown[] = [];
  const ready: ResolvedCandidate[] = [];
  const asked: Configure[] = [];
  const taken: Configuration = { request: {}, chain: [member], members: [] } as unknown as Configuration;
  const opening = {
    request: {},
    chain: [member],
    meter: { add: () => {} },
    configure:
      configure ??
      (async (each: Configure) => {
        asked.push(each);
        return taken;
      }),
  } as unknown as SessionOpening;
  const signals = new Signals();
  signals.on('fault', (_, error) => told.push(error));
  const reconfiguration = new Reconfiguration(
    opening,
    { access: () => ({ baseUrl: undefined, credential: undefined }), clock },
    {
      charts: {
        streaming,
        tell: (event) => told.push(event),
        turn: { formattedWaitMs: 0 },
        tellFailover: () => {},
      },
      recovery: { configured: (before) => before + Number(broken), became: () => {}, beginsWithFirst: () => !broken },
      leg: {
        pump: { flush: () => {} },
        isAlready: () => already,
        reconfigure: () => {
          told.push('asked');
          return asks;
        },
      },
      events: {
        configuring: () => {},
        unchanged: (from) => told.push({ unchanged: from }),
        warn: () => {},
        error: (code) => told.push(code),
        switched: (index, _, __, from) => told.push({ inPlace: index, from }),
      },
      spending: { heardBy: (index) => told.push({ heardBy: index }) },
      pipeline: { sentSamples: 16_000 },
      signals,
      configureTexts: () => {},
      chainBegins: () => {},
      standbyChanged: () => told.push('standby'),
      keepModelsReady: (chain) => ready.push(...chain),
    },
  );
  /** All that follows at once has followed. */
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { reconfiguration, clock, told, ready, asked, opening, settled };
}

const CHANGE: Configure = { type: 'configure', language: 'de' };
const configured = { type: 'session.configured', next: 1 };

describe('a change', () => {
  it('takes effect as soon as the open leg confirms it', async () => {
    const { reconfiguration, told, ready, settled } = started();
    reconfiguration.ask(CHANGE);
    await settled();
    expect([told, ready]).toEqual([['asked'], []]);
    reconfiguration.answered(true);
    expect(ready).toEqual([member]);
    expect(told).toMatchObject([
      'asked',
      { ...configured, isInPlace: true },
      { heardBy: 1 },
      { inPlace: 1, from: 16_000 },
    ]);
  });

  it('takes effect at once, without the leg, where the model gets the same request', async () => {
    const { reconfiguration, told, settled } = started({ already: true });
    reconfiguration.ask(CHANGE);
    await settled();
    expect(told).toMatchObject([{ ...configured, isInPlace: true }, { heardBy: 1 }, { inPlace: 1, from: 16_000 }]);
  });

  it.each<[string, Circumstances, (parts: ReturnType<typeof started>) => unknown]>([
    ['the open leg says no', {}, ({ reconfiguration }) => reconfiguration.answered(false)],
    ['the open leg says nothing for two seconds', {}, ({ clock }) => clock.increment(2_000)],
    ['the leg is another one', { asks: false }, () => {}],
    ['no leg takes audio', { streaming: false }, () => {}],
    ['the first model is not to be begun with', { broken: true }, () => {}],
  ])('comes with another leg at the end of the turn where %s', async (_, circumstances, happens) => {
    const parts = started(circumstances);
    parts.reconfiguration.ask(CHANGE);
    await parts.settled();
    happens(parts);
    await parts.settled();
    const events = parts.told.filter((each) => each !== 'asked');
    expect(events).toMatchObject([{ type: 'session.configured', next: circumstances.broken ? 2 : 1 }]);
    expect(events[0]).not.toHaveProperty('isInPlace');
  });

  it('happens once when an answer comes late', async () => {
    const { reconfiguration, clock, told, settled } = started();
    reconfiguration.ask(CHANGE);
    await settled();
    clock.increment(2_000);
    await settled();
    reconfiguration.answered(true);
    await settled();
    expect(told.filter((each) => each !== 'asked')).toHaveLength(1);
  });

  it('waits for the one in progress, and the last of several counts', async () => {
    const { reconfiguration, clock, asked, settled } = started();
    reconfiguration.ask(CHANGE);
    await settled();
    reconfiguration.ask({ type: 'configure', language: 'fr', prompt: 'a' });
    reconfiguration.ask({ type: 'configure', language: 'it' });
    clock.increment(1_999);
    await settled();
    expect(asked).toEqual([CHANGE]);
    reconfiguration.answered(true);
    await settled();
    clock.increment(1_000);
    await settled();
    expect(asked).toEqual([CHANGE, { type: 'configure', language: 'it', prompt: 'a' }]);
  });

  it.each<[string, Omit<Configure, 'type'>, unknown[]]>([
    ['the return to the first model', { return_to_primary: true }, [{ unchanged: 16_000 }]],
    ['the fallback on standby', { standby: true }, [{ unchanged: 16_000 }, 'standby']],
    ['both', { standby: false, return_to_primary: true }, [{ unchanged: 16_000 }, 'standby']],
  ])('of %s alone leaves the chain and the leg as they are', async (_, change, expected) => {
    const { reconfiguration, told, opening, settled } = started();
    reconfiguration.ask({ type: 'configure', ...change });
    await settled();
    expect([told, opening.chain]).toEqual([expected, [member]]);
  });

  it('reports a refusal, and the next change is requested', async () => {
    const refusals = [apiError('model_not_found', 'There is none.')];
    let count = 0;
    const { reconfiguration, clock, told, settled } = started({
      configure: async () => {
        count++;
        for (const refusal of refusals.splice(0)) throw refusal;
        return undefined;
      },
    });
    reconfiguration.ask(CHANGE);
    await settled();
    expect(told).toEqual(['model_not_found']);
    reconfiguration.ask(CHANGE);
    clock.increment(1_000);
    await settled();
    expect(count).toBe(2);
  });

  it('comes to nothing once the session is over, also where the leg was asked', async () => {
    const { reconfiguration, told, opening, clock, settled } = started();
    reconfiguration.ask(CHANGE);
    await settled();
    reconfiguration.stop();
    await settled();
    clock.increment(10_000);
    expect(told).toEqual(['asked']);
    expect(opening.chain).toHaveLength(1);
  });

  it('leaves nothing of earlier changes except who pays', async () => {
    const { reconfiguration, opening, clock, settled } = started({ streaming: false });
    for (let count = 0; count < 3; count++) {
      reconfiguration.ask(CHANGE);
      await settled();
      clock.increment(1_000);
    }
    const kept = opening.chain.map(({ slug, params }) => [slug, params]);
    expect(kept).toEqual([...Array.from({ length: 3 }, () => [MODEL, {}]), [MODEL, member.params]]);
  });

  it('beyond the hundredth is refused', async () => {
    const { reconfiguration, clock, told, settled } = started({ configure: async () => undefined });
    for (let count = 0; count <= 100; count++) {
      reconfiguration.ask(CHANGE);
      await settled();
      clock.increment(1_000);
    }
    expect(told).toEqual(['rate_limit_exceeded']);
  });
});
