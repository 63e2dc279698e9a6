// What providers say twice, late, anew or wrongly, on one live protocol of each shape, the first rows on every one: each
// turn has one final, in order, with times that rise; what cannot be read ends nothing.
import { describe, expect, it } from 'vitest';
import { altered, simulatorOf } from './altered.ts';
import { expectAllHeard, expectFailover, Incident, type IncidentOptions, textsOf } from './incident.ts';
import { DRAWN } from './protocols.ts';
import { turnsOf } from './spoken.ts';

const TIMES = /^(?:start|end|duration|timestamp|audio_window_(?:start|end)|audio_(?:start|end)_ms)$/;

const DISTINCT = ['Good morning.', 'This is the second turn.', 'Yes.', 'That is all.'];

describe.each(DRAWN)('$slug', (protocol) => {
  const { slug, provider, fallback } = protocol;
  const chain = [slug, fallback];
  const faulty = (...faults: string[]): IncidentOptions => ({ faults: { [provider]: faults } });

  it('delivers one final a turn despite duplicate finals, revised interims and unknown messages', async () => {
    const incident = new Incident(
      faulty('duplicate-finals', 'revised-interims', 'unknown-messages', 'binary-messages', 'non-object-json'),
    );
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(incident.failures).toEqual([]);
    await incident.close();
  });

  it('leaves the last turn to the next candidate when it closes before the last final', async () => {
    const { isFinal } = simulatorOf(provider);
    const simulator = altered(provider, (message) => (isFinal(message) ? [] : [message]));
    const incident = new Incident({ simulator });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    for (const final of caller.client.finals) expect(final.model).toBe(fallback);
    await incident.close();
  });

  if (!protocol.isFull) return;

  it.each([
    ['says every final twice', 'duplicate-finals'],
    ['thinks better of its interims', 'revised-interims'],
    ['says everything late', 'latency=900ms'],
    ['sends unknown messages', 'unknown-messages'],
    ['says bytes', 'binary-messages'],
    ['sends JSON other than objects', 'non-object-json'],
  ])('%s: each turn has one final, and the provider is kept', async (_, fault) => {
    const incident = new Incident(faulty(fault));
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(incident.failures).toEqual([]);
    await incident.close();
  });

  it.each([
    ['late', 'late-finals=900ms'],
    ['once the next turn has begun', 'late-final-after-next'],
  ])('says its finals %s: each turn has one final', async (_, fault) => {
    const incident = new Incident(faulty(fault));
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    await incident.close();
  });

  it('keeps the session’s times rising when it counts from 0 again with each turn', async () => {
    const incident = new Incident({ ...faulty('restart-times'), turns: turnsOf(DISTINCT) });
    const caller = await incident.play(chain);
    expect(textsOf(caller).join(' ')).toBe(DISTINCT.join(' '));
    await incident.close();
  });

  it('counts time from 0 again after a new connection: finals stay where the words were said', async () => {
    const incident = new Incident(faulty('drop-after=2500ms'));
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    const ends = caller.client.finals.filter(({ text }) => text !== '').map(({ end }) => end);
    // Each turn is a tone of 1.2 s and a silence of 0.8 s.
    for (const [turn, end] of ends.entries()) {
      expect(end).toBeGreaterThanOrEqual(turn * 2 + 1.19);
      expect(end).toBeLessThanOrEqual(turn * 2 + 2.01);
    }
    await incident.close();
  });

  it.each([1e308, -1e308, -5, 1e-320])(
    'says %d for every time: texts and the order of times are kept',
    async (time) => {
      const simulator = altered(provider, (message) => [withTimes(message, time)]);
      const incident = new Incident({ simulator, turns: turnsOf(DISTINCT) });
      const caller = await incident.play(chain);
      expect(textsOf(caller)).toEqual(DISTINCT);
      await incident.close();
    },
  );

  it('keeps both finals when two turns have the same word', async () => {
    const incident = new Incident({ turns: turnsOf(['Yes.', 'Yes.']) });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    await incident.close();
  });

  it('fails between two turns of the same word: both have their final, one of each model', async () => {
    const incident = new Incident({ ...faulty('stall-after=2600ms'), turns: turnsOf(['Yes.', 'Yes.']) });
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, 'stalled');
    expect(caller.client.finals.map(({ model }) => model)).toEqual([slug, fallback]);
    await incident.close();
  });

  it('writes emoji, right to left and NUL: the client gets the text without NUL, and all else as it is', async () => {
    const texts = ['Zero\u0000 width.', 'Family 👩‍👩‍👧 here.', 'שלום עולם.', 'Yes\u0000\u0000.'];
    const incident = new Incident({ turns: turnsOf(texts) });
    const caller = await incident.play(chain);
    expect(textsOf(caller)).toEqual(texts.map((text) => text.replaceAll('\u0000', '')));
    await incident.close();
  });

  it('writes half a character: what the client gets is well-formed', async () => {
    const incident = new Incident({ turns: turnsOf(['Broken \ud83d here.', 'Yes.']) });
    const caller = await incident.play(chain);
    for (const text of textsOf(caller)) expect(Buffer.from(text).toString()).toBe(text);
    await incident.close();
  });

  it('says a message of 5 MB: the connection is dropped, and the next candidate takes over', async () => {
    const incident = new Incident(faulty('huge-message=2500ms'));
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(incident.failures[0]).toMatchObject({ slug, failure: { code: 'close_1006' } });
    await incident.close();
  });
});

describe('a formatted version of a final', () => {
  const said = ['good morning', 'this is the second turn'];
  const slug = 'assemblyai/universal-streaming-english';

  it.each([
    ['comes in time: it is the only final', 'formatted-late=400', ['Good morning.', 'This is the second turn.'], 0],
    ['comes too late: the words as they were are the only final, and it is counted', 'formatted-late=900', said, 2],
    ['never comes: the words as they were are the final', 'formatted-never', said, 0],
  ])('%s', async (_, quirk, texts, late) => {
    const incident = new Incident({ faults: { assemblyai: [quirk] }, turns: turnsOf(said, 1.2, 1.5) });
    const caller = await incident.play([slug], {}, { format_turns: true });
    expect(textsOf(caller)).toEqual(texts);
    expect(incident.rig.drops).toEqual(late === 0 ? {} : { late_formatted: late });
    expect(caller.client.closeCode).toBe(1000);
    await incident.close();
  });

  it('delivers the final after 700 ms when no formatted version arrives', async () => {
    const incident = new Incident({ faults: { assemblyai: ['formatted-late=900'] }, turns: turnsOf(said, 1.2, 2) });
    const { told } = await incident.play([slug], {}, { format_turns: true });
    const [first] = told.filter(({ event }) => event.type === 'transcript' && event.is_final);
    const endedMs = 1_500;
    expect(first?.atMs).toBeGreaterThanOrEqual(endedMs + 700);
    expect(first?.atMs).toBeLessThanOrEqual(endedMs + 900);
    await incident.close();
  });
});

it('ignores Flux’s eager results before the end of a turn', async () => {
  const simulator = altered('deepgram', (message) => {
    if (message.event !== 'EndOfTurn') return [message];
    const early = ['EagerEndOfTurn', 'TurnResumed', 'EagerEndOfTurn'];
    return [...early.map((event) => ({ ...message, event, transcript: 'Not all of' })), message];
  });
  const incident = new Incident({ simulator });
  const caller = await incident.play(['deepgram/flux-general-en']);
  expectAllHeard(caller, incident);
  await incident.close();
});

it.each(['openai/gpt-4o-transcribe', 'openai/gpt-live-transcribe'])(
  '%s says a turn word by word and then as a whole: the words are interims, the whole is the final',
  async (slug) => {
    const incident = new Incident();
    const caller = await incident.play([slug]);
    expectAllHeard(caller, incident);
    const interims = caller.client.of('transcript').filter((event) => !event.is_final && event.turn === 1);
    expect(interims.map(({ text }) => text)).toContain('This is');
    await incident.close();
  },
);

/** A message whose times are all the same. */
function withTimes(value: unknown, time: number): never {
  if (Array.isArray(value)) return value.map((each) => withTimes(each, time)) as never;
  if (typeof value !== 'object' || value === null) return value as never;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, member]) => [
      name,
      TIMES.test(name) && typeof member === 'number' ? time : withTimes(member, time),
    ]),
  ) as never;
}
