// Live sessions that clients request later: what is kept of them, for whom, and within which bounds.
import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { ApiError } from '../../src/api/errors.ts';
import type { OutgoingEvent } from '../../src/api/listen-events.ts';
import { KeptSessions, SESSION_BOUNDS, SESSION_KEPT_MS } from '../../src/compat/jobs/kept-sessions.ts';

const OWNER = { organisationId: 'org_1', keyId: 'key_1', dialect: 'gladia' };
const OTHER = { organisationId: 'org_2', keyId: 'key_2', dialect: 'gladia' };

let clock: SimulatedClock;
let kept: KeptSessions;
let forgotten: number;
beforeEach(() => {
  clock = new SimulatedClock();
  forgotten = 0;
  kept = new KeptSessions({ clock, wallNow: () => new Date(clock.now()), onForgotten: () => void forgotten++ });
});

const final = (text: string, start = 0, end = 1) =>
  ({
    ...{ type: 'transcript', is_final: true, turn: 1, model: 'a/b', text, start, end },
    words: [{ word: text, start, end }],
  }) as OutgoingEvent;
const ended = (audio_seconds: number) => ({ type: 'session_ended', audio_seconds }) as OutgoingEvent;
const record = (id: string, owner = OWNER, asked = {}) => {
  const made = kept.record(owner, { id, asked });
  if (made === undefined) throw new Error('The session is not recorded.');
  return made;
};
const textsOf = (id: string, owner = OWNER) =>
  kept
    .find(owner, id)
    .turns()
    .map(({ text }) => text);
const isHere = (id: string, owner = OWNER) => kept.of(owner).some((session) => session.id === id);

describe('a session', () => {
  it('keeps its finals, its length and its end', () => {
    const one = record('req_1', OWNER, { model: 'a/b' });
    one.take({ ...final('in'), is_final: false } as OutgoingEvent);
    one.take(final('hi'));
    one.take(final(''));
    expect(kept.find(OWNER, 'req_1')).toMatchObject({ id: 'req_1', asked: { model: 'a/b' }, endedAt: undefined });
    clock.increment(5);
    one.take(ended(4));
    one.end();
    expect(kept.find(OWNER, 'req_1')).toMatchObject({ endedAt: new Date(5), seconds: 4, failure: undefined });
    expect(textsOf('req_1')).toEqual(['hi']);
  });

  it('keeps the finals until its client leaves', () => {
    const one = record('req_1');
    one.take(final('hi', 1, 2));
    one.end();
    one.take(final('late'));
    expect(kept.find(OWNER, 'req_1')).toMatchObject({ endedAt: new Date(0), seconds: 2 });
    expect(textsOf('req_1')).toEqual(['hi']);
  });

  it('keeps the reason and the transcript when it failed', () => {
    const one = record('req_1');
    one.take(final('hi'));
    one.take({ type: 'error', fatal: false, error: { code: 'invalid_request', message: 'No.' } } as OutgoingEvent);
    one.take({ type: 'error', error: { code: 'upstream_failed', message: 'Gone.' } } as OutgoingEvent);
    one.take(ended(1));
    expect(kept.find(OWNER, 'req_1').failure).toMatchObject({ status: expect.any(Number), message: 'Gone.' });
    expect(textsOf('req_1')).toEqual(['hi']);
  });

  it('continues on a further connection, with the times of the whole', () => {
    const first = record('req_1');
    first.take(final('one', 0.5, 1));
    first.take(ended(2));
    const second = record('req_1');
    expect(kept.find(OWNER, 'req_1').endedAt).toBeUndefined();
    second.take(final('two', 0.5, 1));
    second.take(ended(3));
    expect(kept.find(OWNER, 'req_1').seconds).toBe(5);
    expect(kept.find(OWNER, 'req_1').turns()).toMatchObject([
      { text: 'one', start: 0.5 },
      { text: 'two', start: 2.5, end: 3, words: [{ word: 'two', start: 2.5, end: 3 }] },
    ]);
  });

  it('belongs to its key and dialect, also where another has the same id', () => {
    record('req_1').take(final('mine'));
    record('req_1', OTHER).take(final('theirs'));
    expect([textsOf('req_1'), textsOf('req_1', OTHER)]).toEqual([['mine'], ['theirs']]);
    kept.remove(OTHER, 'req_1');
    expect([isHere('req_1'), isHere('req_1', OTHER)]).toEqual([true, false]);
    expect(() => kept.find({ ...OWNER, dialect: 'soniox' }, 'req_1')).toThrow(ApiError);
  });

  it.each(['', 'a b', 'ä', 'x'.repeat(65)])('cannot be found by the id "%s"', (id) =>
    expect(kept.record(OWNER, { id, asked: {} })).toBeUndefined(),
  );

  it('expires 24 hours after its end, and disappears at once when removed', () => {
    const one = record('req_1');
    clock.increment(2 * SESSION_KEPT_MS);
    expect(isHere('req_1')).toBe(true);
    one.end();
    clock.increment(SESSION_KEPT_MS - 1);
    expect(isHere('req_1')).toBe(true);
    clock.increment(1);
    expect(isHere('req_1')).toBe(false);
    const two = record('req_2');
    kept.remove(OWNER, 'req_2');
    two.take(final('hi'));
    two.end();
    expect([kept.size, forgotten]).toEqual([0, 0]);
  });
});

describe('beyond its bounds', () => {
  it('drops the key’s oldest ended session, then its oldest, and no other key’s', () => {
    record('req_0', OTHER).end();
    record('req_0');
    record('req_1').end();
    for (let at = 2; at <= SESSION_BOUNDS.key.jobs; at++) record(`req_${at}`);
    expect([isHere('req_0'), isHere('req_1')]).toEqual([true, false]);
    record('req_last');
    expect([isHere('req_0'), isHere('req_2'), isHere('req_last'), isHere('req_0', OTHER)]).toEqual([
      ...[false, true, true, true],
    ]);
    expect([kept.size, forgotten]).toEqual([SESSION_BOUNDS.key.jobs + 1, 2]);
  });

  it('drops a key’s oldest transcripts first, and a session with too many words', () => {
    const half = 'a'.repeat(SESSION_BOUNDS.key.characters / 2);
    const [first, second] = [record('req_1'), record('req_2')];
    first.take({ ...final(''), words: [], text: half } as OutgoingEvent);
    first.end();
    second.take({ ...final(''), words: [], text: half } as OutgoingEvent);
    expect([isHere('req_1'), isHere('req_2')]).toEqual([false, true]);
    second.take({ ...final(''), words: [], text: half } as OutgoingEvent);
    expect([isHere('req_2'), forgotten]).toEqual([false, 2]);
    second.end();
    expect(kept.size).toBe(0);
  });
});
