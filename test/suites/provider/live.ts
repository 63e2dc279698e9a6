// What holds of every live codec: how it opens, what it asks for, what its stories say, and what no message can make it do.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../machines/events.ts';
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type { LegRequest, LiveCodec, Provider, Step } from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { TurnText } from '../../../src/vendors/kit/turn-text.ts';
import { drawn } from '../../fakes/drawn.ts';
import type { LiveFixtures, StoryGroup } from './fixtures.ts';
import { askedByUrl, changed, legRequest } from './requests.ts';
import { Act, audio, closed, FINALIZE, FINISH, isGiven, lineOf, StoryLeg, tell } from './story.ts';

/** Closes that say nothing: the leg is tried again. */
const SILENT_CLOSES = [1000, 1001, 1005, 1006, 1011, 4242];
/** Of each property, for each group of stories. */
const RUNS = drawn(1_000);
/** Messages that are spoilt, for each group of stories; and how many of them one leg is given, twice. */
const SPOILT_MESSAGES = 10_000;
const SPOILT = { minLength: 8, maxLength: 12 };
/** Times on the wire are rounded. */
const ROUNDING_SECONDS = 1e-6;
/** What a session keeps of its audio: a leg is given up before that. */
const REPLAY_MS = 60_000;

/** What a leg asks for until it is set up. */
export function askedOf(codec: LiveCodec, fixtures: LiveFixtures, request: LegRequest): JsonObject {
  const leg = new StoryLeg(codec, request);
  const answers = (fixtures.begin ?? []).flatMap((message) => leg.give(message));
  const sent = answers.flatMap((step) => (step.type === 'send' ? [step.frame] : []));
  return (fixtures.asked ?? askedByUrl)(leg.opened.endpoint, [...leg.opened.hello, ...sent]);
}

export function testLive(
  { name, models, live }: Provider,
  fixtures: LiveFixtures,
  encode?: ProviderSimulator['encode'],
): void {
  const { model, sampleRate } = fixtures;
  const codecOf = (request: LegRequest) => live?.(request.model) as LiveCodec;
  const requestOf = (change: Partial<LegRequest> = {}) => legRequest({ model, sampleRate, ...change });
  const codec = codecOf(requestOf());
  const isRemote = codec.open(requestOf()).endpoint.kind !== 'embedded';

  describe(`${name} live`, () => {
    for (const [change, endpoint, hello = []] of fixtures.openings) {
      it(`opens ${JSON.stringify(change)}`, () => {
        const opened = codecOf(requestOf(change)).open(requestOf(change));
        expect({ endpoint: opened.endpoint, hello: opened.hello }).toEqual({ endpoint, hello });
      });
    }

    if (isRemote)
      it('goes below the base URL that is configured, and shows no key where there is none', () => {
        const access = { baseUrl: 'http://127.0.0.1:9/below/', credential: undefined };
        const { endpoint } = codec.open(requestOf({ access }));
        const url = endpoint.kind === 'request' ? endpoint.request.url : 'url' in endpoint ? endpoint.url : '';
        expect(url).toMatch(
          endpoint.kind === 'websocket' ? /^ws:\/\/127\.0\.0\.1:9\/below\b/ : /^http:\/\/127\.0\.0\.1:9\/below\//,
        );
        expect(JSON.stringify({ ...endpoint, method: undefined })).not.toMatch(/undefined|authorization/i);
      });

    it.each(fixtures.requests)('requests %j as %j', (change, expected) => {
      const changedCodec = codecOf(requestOf(change));
      const plain = askedOf(changedCodec, fixtures, requestOf({ model: change.model ?? model }));
      expect(changed(plain, askedOf(changedCodec, fixtures, requestOf(change)))).toEqual(expected);
    });

    const { socketOf } = codec;
    if (socketOf !== undefined)
      it.each(neededSockets(fixtures))('connects where the answer %j says: %j', (body, expected) => {
        const found = socketOf(codec.open(requestOf()).state, {
          ...{ status: 201, headers: {} },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        });
        expect(found.kind === 'websocket' ? found : `${found.kind} ${found.code}`).toEqual(expected);
      });

    it('sends audio from any part of a buffer', () => {
      const frame = Uint8Array.from([9, 9, 1, 2, 3, 4, 9]).subarray(2, 6);
      const sent = codec.audio(codec.open(requestOf()).state, frame);
      if (fixtures.audio === undefined) expect(sent).toBe(frame);
      else expect(sent).toEqual(fixtures.audio(frame));
    });

    it.each(fixtures.timings ?? [])('for %j uses the timing %j', (change, timing) => {
      expect(codecOf(requestOf(change)).timing(requestOf(change))).toMatchObject(timing);
    });

    const cards = models.filter(({ modes, live_turns }) => modes.includes('live') && live_turns !== 'gateway');
    it.each(cards.map((card) => [card.id, card] as const))(
      '%s names its model in the request, and has a valid timing',
      (id, card) => {
        const own = codecOf(requestOf({ model: id.slice(name.length + 1) }));
        const asked = askedOf(own, fixtures, requestOf({ model: id.slice(name.length + 1) }));
        if (isRemote) expect(JSON.stringify(asked).toLowerCase()).toContain(id.slice(name.length + 1));
        for (const rate of card.audio.sample_rates) {
          const timing = own.timing(requestOf({ model: id.slice(name.length + 1), sampleRate: rate }));
          const { frame, speedMax, burstMs, endpointing, stallMs } = timing;
          expect([frame.minMs, frame.idealMs, frame.maxMs]).toEqual(
            [frame.minMs, frame.idealMs, frame.maxMs].sort((a, b) => a - b),
          );
          // A frame longer than the burst would never leave; the largest is the ideal one and a rest.
          if (Number.isFinite(speedMax)) expect(burstMs).toBeGreaterThanOrEqual(frame.idealMs + frame.minMs);
          if (endpointing !== undefined) {
            expect(stallMs).toBeGreaterThan(endpointing.longestMs);
            expect(stallMs).toBeLessThan(REPLAY_MS);
          }
        }
      },
    );

    for (const { of, request, seconds = 10, stories } of fixtures.stories) {
      it.each(Object.entries(stories))(`${of}: %s`, (_, story) => {
        const leg = new StoryLeg(codecOf(requestOf(request)), requestOf(request), encode);
        if (seconds > 0) leg.audio(seconds);
        tell(leg, story);
      });
    }

    const silent = SILENT_CLOSES.map((code) => [code, '', `retry close_${code}`] as const);
    it.each([...(isRemote ? silent : []), ...(fixtures.closes ?? [])])(
      'takes a close with %i "%s" for "%s"',
      (code, reason, failure) => {
        const leg = new StoryLeg(codec, requestOf());
        expect(leg.give(closed(code, reason)).map((step) => lineOf(step))).toEqual([`failed ${failure}`]);
      },
    );

    if (isRemote)
      it('passes on what the provider says of a close, on one line and not without end', () => {
        const [heard] = new StoryLeg(codec, requestOf()).give(closed(1011, `a\u0000\nb${'x'.repeat(1_000)}`));
        const message = heard?.type === 'failed' ? heard.failure.message : '';
        expect(message).toMatch(/a +bx{10}/);
        expect(message.length).toBeLessThan(400);
      });

    it('ignores invalid messages', () => {
      for (const json of [undefined, null, 7, 'text', [], {}, { type: 'no-such-message' }, { type: 3 }]) {
        expect(codec.read(codec.open(requestOf()).state, { json }), JSON.stringify(json)).toEqual([]);
      }
      for (const message of [{ bytes: new Uint8Array(3) }, { text: 'text' }, { text: '' }])
        expect(codec.read(codec.open(requestOf()).state, message)).toEqual([]);
    });

    // Engines of this process say what they mean.
    const access = { baseUrl: 'ws://127.0.0.1:9/far', credential: undefined };
    if (codec.open(requestOf({ access })).endpoint.kind === 'embedded') return;
    describe('any input', () => {
      it.each(isRemote ? fixtures.stories : [])('$of: each turn ends once, in order, within the audio', (group) => {
        const act = fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...givenIn(group)) },
          { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }).map((tenths) => audio(tenths / 10)) },
          { weight: 1, arbitrary: fc.constant(FINALIZE) },
        );
        fc.assert(
          fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
            const leg = new StoryLeg(codecOf(requestOf(group.request)), requestOf(group.request), encode);
            leg.audio(2);
            const open = expectOneFinalEach(leg, [...acts, FINISH]);
            // Words that were heard and never settled are missed, however orderly the connection is closed.
            if (!open || fixtures.finishesOpen === true) return;
            const ends = leg.give(closed(1000)).map(({ type }) => type);
            if (`${ends}` !== 'failed') expect.fail(`closed with words that were never settled: ${ends}`);
          }),
          { numRuns: RUNS },
        );
      });

      it.each(fixtures.stories)('$of: nothing is thrown, and texts and times are such', (group) => {
        const messages = givenIn(group).filter((given) => typeof given === 'object' && given !== null);
        const spoilt = fc
          .tuple(
            fc.constantFrom(...messages),
            fc.nat(40),
            fc.oneof(fc.jsonValue(), fc.constantFrom(Number.NaN, { toString: {} })),
          )
          .map(([message, at, value]) => {
            if (message instanceof Act) return message;
            return message instanceof Uint8Array
              ? withSpoiltBytes(message, at, value)
              : withSpoilt(message as JsonObject, at, value);
          });
        let given = 0;
        fc.assert(
          fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: spoilt }, fc.anything()), SPOILT), (all) => {
            const leg = new StoryLeg(codecOf(requestOf(group.request)), requestOf(group.request), encode);
            leg.audio(0.1);
            given += all.length;
            for (const each of [...all, FINISH, ...all]) leg.give(each).forEach(expectWellFormed);
            const { type } = leg.codec.closed(leg.state, 1005, 'x');
            if (type !== 'finished' && type !== 'failed') expect.fail(`a close is taken for "${type}"`);
          }),
          { numRuns: drawn(SPOILT_MESSAGES / SPOILT.minLength) },
        );
        expect(given).toBeGreaterThanOrEqual(drawn(SPOILT_MESSAGES));
      });
    });
  });
}

/** What the answer to the first request says, and answers that cannot be read. */
function neededSockets({ sockets }: LiveFixtures): NonNullable<LiveFixtures['sockets']> {
  if (sockets === undefined)
    throw new Error('A codec that asks for its WebSocket has fixtures for the answers: sockets.');
  const unreadable = ['', 'no JSON', 'null', '[]', '{}', '<html>', '{"url":7}', '{"url":"no URL"}', '{"url":"ws://"}'];
  return [...sockets, ...unreadable.map((body) => [body, 'next bad_answer'] as const)];
}

/** All that is said or done in the stories of a group, but for ends of the leg. */
function givenIn({ stories }: StoryGroup): unknown[] {
  const ends = /^(?:close|finish|leave)/;
  const rows = Object.values(stories).flat();
  return rows.flat().filter((given) => isGiven(given) && !(given instanceof Act && ends.test(given.name)));
}

/**
 * Fails where a turn ends twice, out of order or beyond the audio; looked at by hand, as this runs for every step. Whether words are
 * open at the end of a leg that has neither failed nor finished.
 */
function expectOneFinalEach(leg: StoryLeg, acts: readonly unknown[]): boolean {
  const text = new TurnText();
  const ended: { id: string; end: number; isEmpty: boolean }[] = [];
  const awaited = new Set<string>();
  const open = new Map<string, string>();
  let finished = 0;
  for (const act of acts) {
    for (const step of leg.give(act)) {
      // The leg is over: nothing is heard of it any more.
      if (step.type === 'failed') return false;
      if (step.type === 'finished') finished++;
      if (!('turnId' in step)) continue;
      const { utterance, turnId: id } = step;
      if (step.type === 'turn.ended') open.delete(id);
      else if (step.type !== 'turn.formatted') open.set(id, utterance?.text ?? '');
      if (utterance !== undefined && !isWithin(utterance, leg.sentSeconds))
        expect.fail(`beyond the audio: ${lineOf(step)}`);
      if (step.type === 'turn.formatted') {
        if (!awaited.delete(id)) expect.fail(`not waited for: ${lineOf(step)}`);
        // It may come too late, which is no fault of the codec's.
        continue;
      }
      // Words that were settled before come under any name, and are dropped.
      const { type } = text.hear(step);
      if (type === 'dropped' && ended.some((each) => each.id === id && !each.isEmpty))
        expect.fail(`said of a turn that is over: ${lineOf(step)}`);
      if (step.type !== 'turn.ended') continue;
      const isEmpty = type === 'empty';
      // An end without words may be followed by another one, also after the ends of other turns: the turn keeps its place.
      const emptied = ended.find((each) => each.id === id && each.isEmpty);
      if (emptied === undefined) ended.push({ id, end: utterance?.end ?? 0, isEmpty });
      else if (type !== 'dropped') emptied.isEmpty = isEmpty;
      if (step.formattedFollows) awaited.add(id);
    }
  }
  if (finished > 1) expect.fail(`finished ${finished} times`);
  const ids = ended.map(({ id }) => id);
  if (new Set(ids).size < ids.length) expect.fail(`ended twice: ${ids}`);
  // Turns that are counted come in that order; others have names, and come in the order of the audio.
  const counts = ids.filter((id) => /^\d+$/.test(id)).map(Number);
  expectInOrder(counts);
  const ends = ended.filter(({ id }) => /^[a-z]\d*$/.test(id)).map(({ end }) => end);
  expectInOrder(ends);
  return finished === 0 && [...open.values()].some((said) => said !== '');
}

function expectInOrder(numbers: readonly number[]): void {
  if (numbers.some((each, at) => each < (numbers[at - 1] ?? each))) expect.fail(`not in order: ${numbers}`);
}

const isWithin = ({ start, end, words = [] }: Utterance, seconds: number): boolean =>
  [{ start, end }, ...words].every(
    (each) => each.start >= 0 && each.end >= each.start && each.end <= seconds + ROUNDING_SECONDS,
  );

function expectWellFormed(step: Step): void {
  if (step.type === 'failed' && typeof step.failure.code !== 'string') expect.fail(lineOf(step));
  if (!('utterance' in step) || step.utterance === undefined) return;
  const { text, start, end } = step.utterance;
  if (typeof text !== 'string' || ![start, end].every(Number.isFinite)) expect.fail(lineOf(step));
}

/** The message with one of its bytes replaced, cut off there, or with more bytes in that place. */
function withSpoiltBytes(message: Uint8Array, at: number, value: unknown): Uint8Array {
  const place = at % (message.length + 1);
  const more = Buffer.from(JSON.stringify(value) ?? '');
  const behind = message.subarray(place);
  return Buffer.concat([
    message.subarray(0, place),
    [more.subarray(0, 1), more][at % 2] as Buffer,
    [behind.subarray(1), behind, behind.subarray(behind.length)][at % 3] as Uint8Array,
  ]);
}

/** The message with one of its members, or of the objects in it, replaced. */
export function withSpoilt(message: JsonObject, at: number, value: unknown): JsonObject {
  const names = Object.keys(message);
  if (names.length === 0) return message;
  const name = names[at % names.length] as string;
  const member = message[name];
  const isDeeper = typeof member === 'object' && member !== null && at >= names.length;
  if (!isDeeper) return { ...message, [name]: value };
  const spoilt = withSpoilt(member as JsonObject, at - names.length, value);
  return { ...message, [name]: Array.isArray(member) ? Object.values(spoilt) : spoilt };
}
