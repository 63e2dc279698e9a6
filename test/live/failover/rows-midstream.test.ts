// Incidents in the middle of a session, on one live protocol of each shape, the first rows on every one: connections that
// end, providers that fall silent or stop reading, and ends that are never confirmed. Whatever happens, each turn has one
// final and no audio is lost.
import { describe, expect, it } from 'vitest';
import { closing } from './altered.ts';
import {
  type Caller,
  expectAllHeard,
  expectFailover,
  Incident,
  type IncidentOptions,
  TEXTS,
  textsOf,
  toldAt,
} from './incident.ts';
import { DRAWN, finalizeOf, providerOf } from './protocols.ts';
import { type SpokenTurn, turnsOf } from './spoken.ts';

/** From a failure to the moment the fallback has the audio. */
const FAILOVER_MS = 1_500;
/** In the middle of a word of the second turn. */
const MID_WORD = '2500ms';
/** In the middle of the second turn. */
const STALL_SECONDS = 2.6;
/** The last word of a leg may have been said so long before it stalled. */
const NOTICED_MS = 700;
/** The limit of a model that has answered each word at once. */
const PROMPT_MS = 4_000;
/** Interims of the simulated providers come at least so often. */
const LAST_SAID_MS = 600;
/** Where nothing is said of a turn before its final, the limit counts from where the turn begins, */
const TURN_SECONDS = 2;
/** and what is in the last chunk counts as sent by its place in the audio, which the clients here send as it begins. */
const CHUNK_MS = 100;

describe.each(DRAWN)('$slug', (protocol) => {
  const { slug, provider, fallback, timing, givesInterims } = protocol;
  const lastSaidMs = givesInterims ? LAST_SAID_MS : (STALL_SECONDS - TURN_SECONDS) * 1_000 + CHUNK_MS;
  const chain = [slug, fallback];
  const faulty = (...faults: string[]): IncidentOptions => ({ faults: { [provider]: faults } });

  it('replays to the fallback within 1.5 s when it is lost mid-word and unreachable', async () => {
    const incident = new Incident({
      ...faulty(`drop-after=${MID_WORD}`),
      dials: { [provider]: ['none', 'refuse'] },
    });
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, 'upstream_closed');
    const [failover] = caller.client.of('failover');
    expect(toldAt(caller, 'failover') - (incident.failures[0]?.atMs as number)).toBeLessThanOrEqual(FAILOVER_MS);
    // From the end of the first turn's final on.
    expect(failover?.replayed_seconds).toBeGreaterThan(0.5);
    expect(failover?.replayed_seconds).toBeLessThanOrEqual(2);
    const [first, ...others] = caller.client.finals.filter(({ text }) => text !== '').map(({ model }) => model);
    expect([first, new Set(others)]).toEqual([slug, new Set([fallback])]);
    await incident.close();
  });

  it('moves to the next candidate when it stalls during speech, after its limit and not before', async () => {
    const turns = [...turnsOf(['Good morning.'], 1, 1), endless(timing.stallMs)];
    const incident = new Incident({ ...faulty(`stall-after=${STALL_SECONDS}s`), turns });
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, 'stalled');
    const silentMs = (incident.failures[0]?.atMs as number) - STALL_SECONDS * 1_000;
    // The limit counts from the last thing it said, which was a while before it fell silent.
    const limitMs = timing.answers === 'words' ? Math.min(timing.stallMs, PROMPT_MS) : timing.stallMs;
    expect(silentMs).toBeGreaterThanOrEqual(limitMs - lastSaidMs);
    expect(silentMs).toBeLessThanOrEqual(limitMs + NOTICED_MS);
    await incident.close();
  });

  if (!protocol.isFull) return;

  it.each([`close-after=${MID_WORD}:1011`, `close-after=${MID_WORD}:1000`, `drop-after=${MID_WORD}`])(
    'transcribes the turn from its beginning after %s, with one failover at most',
    async (fault) => {
      const incident = new Incident(faulty(fault));
      const caller = await incident.play(chain);
      expectAllHeard(caller, incident);
      expect(caller.client.of('failover').length).toBeLessThanOrEqual(1);
      const [first] = incident.failures;
      expect(reconnectedAt(caller) - (first?.atMs as number)).toBeLessThanOrEqual(FAILOVER_MS);
      // Finals that the first leg gave are not given again; what came after them is replayed, and no more.
      expect(caller.client.of('failover').every((event) => event.replayed_seconds < 3)).toBe(true);
      await incident.close();
    },
  );

  it('leaves the turn to the next candidate, without interims, when it closes at a finalize', async () => {
    const incident = new Incident({ simulator: closing(provider, finalizeOf(protocol)) });
    // In the pause behind the first turn, before the provider has ended it.
    const caller = await incident.play(chain, { finalizeAfterChunk: 12 });
    expectAllHeard(caller, incident);
    expect(incident.failures[0]).toMatchObject({ slug, failure: { reason: 'upstream_closed' } });
    expect(caller.client.finals[0]?.start).toBe(0);
    await incident.close();
  });

  it.each([150, 300])(
    'accepts every session and fails %d ms later: one failover each, and after five failures in a row it is spared',
    async (failMs) => {
      const incident = new Incident(faulty(`error-after=${failMs}ms`));
      const reasons: string[] = [];
      for (let session = 0; session < 5; session++) {
        const caller = await incident.play(chain);
        expectAllHeard(caller, incident);
        const failovers = caller.client.of('failover');
        expect(failovers).toMatchObject([{ from: slug, to: fallback }]);
        reasons.push(failovers[0]?.reason as string);
      }
      // Two attempts a session, as the failure is worth a retry: the fifth failure is the third session's first. The breaker
      // is open for ten seconds; then the fifth session is the probe.
      expect(reasons.map((reason) => reason === 'circuit_open')).toEqual([false, false, false, true, false]);
      expect(incident.failures.filter((failure) => failure.slug === slug)).toHaveLength(6);
      await incident.close();
    },
  );

  it('stays connected when it is silent for minutes without speech', async () => {
    const incident = new Incident({ turns: [...turnsOf(['Good morning.'], 1, 150), ...turnsOf(['Still there?'])] });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect([incident.failures, caller.client.of('failover')]).toEqual([[], []]);
    await incident.close();
  });

  it('gives way to the fallback when speech resumes after it died in silence, losing no word', async () => {
    const turns = [...turnsOf(['Good morning.'], 1, 60), endless(timing.stallMs)];
    const incident = new Incident({ ...faulty('stall-after=10s'), turns });
    const caller = await incident.play(chain);
    expect(caller.client.of('failover')).toMatchObject([{ from: slug, to: fallback, reason: 'stalled' }]);
    expect(textsOf(caller)).toEqual(turns.map(({ text }) => text));
    // Silence that nobody gave a final for counts toward the audio kept for a replay: the oldest of it may be gone.
    expect(caller.client.of('discontinuity').filter(({ to }) => to > 61)).toEqual([]);
    await incident.close();
  });

  it('reads no more: what waits for it is bounded, and the next candidate takes over', async () => {
    // Nobody speaks, so that nothing but the buffer tells.
    const incident = new Incident({ ...faulty('freeze-after=2s'), turns: turnsOf(['Good morning.', 'Bye.'], 1, 20) });
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, 'stalled');
    expect(incident.failures).toMatchObject([{ slug, failure: { code: 'send_buffer_full' } }]);
    await incident.close();
  });

  it('names every attempt and ends when it and its fallback keep failing before the first word', async () => {
    const faults = ['error-after=0'];
    const incident = new Incident({ faults: { [provider]: faults, [providerOf(fallback)]: faults } });
    const caller = await incident.play(chain);
    const [error] = caller.client.of('error');
    expect([error?.error.code, caller.client.closeCode]).toEqual(['upstream_exhausted', 4101]);
    expect(error?.error.details?.map(({ model }) => model)).toEqual(incident.failures.map((failure) => failure.slug));
    expect(incident.failures.length).toBeLessThanOrEqual(8);
    expect(textsOf(caller)).toEqual([]);
    await incident.close();
  });

  it('delivers each turn once although it and its fallback lose every connection after one turn', async () => {
    const faults = ['drop-after=2500ms'];
    const incident = new Incident({ faults: { [provider]: faults, [providerOf(fallback)]: faults } });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(incident.failures.length).toBeGreaterThanOrEqual(2);
    await incident.close();
  });

  it('never confirms the end: no final is missing, and the client is not kept for ever', async () => {
    const incident = new Incident(faulty('slow-close'));
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    const spokenMs = TEXTS.length * 2_000;
    expect(toldAt(caller, 'session_ended') - spokenMs).toBeLessThanOrEqual(timing.drainMs + 2_000);
    await incident.close();
  });
});

/** A turn that goes on for longer than a stall is borne with. */
const endless = (stallMs: number): SpokenTurn => ({
  text: 'This turn goes on and on.',
  seconds: (stallMs * 1.5) / 1_000,
  pauseSeconds: 1,
});

/** When the first new connection had the audio, the same model’s or another’s. */
function reconnectedAt({ told }: Caller): number {
  const found = told.find(({ event }) => event.type === 'failover' || event.type === 'warning');
  if (found === undefined) throw new Error('The client was not told of a new connection.');
  return found.atMs;
}
