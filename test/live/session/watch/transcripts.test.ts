// The text of finals on its way to whoever watches a live session: to nobody, unless the organisation shows transcripts.
import { describe, expect, it } from 'vitest';
import { TRANSCRIPT_CHARS_MAX, WATCHED_FRAMES_MAX, type WatchedFrame } from '../../../../src/api/console/watching.ts';
import { SessionLog, TRANSCRIPTS_CHARS_MAX } from '../../../../src/live/session/watch/session-log.ts';
import { SessionRig, settle } from '../../../fakes/session-rig.ts';
import { speech } from '../support.ts';
import { watchable } from './watchable.ts';

const SAID = 'canary spoken words';
const TURNS = { providerParams: { turns: [{ text: SAID, seconds: 1 }] } };
const NOTE = { turn: 1, model: 'a/b', start: 0, end: 1, partialMs: 1, finalMs: 1, gatewayMs: 1 };

const transcriptsIn = (frames: readonly WatchedFrame[]) =>
  frames.flatMap((frame) => (frame.kind === 'mark' && frame.transcript !== undefined ? [frame.transcript] : []));

/** A watched session in which something is said, what it kept, and what outlives it. */
async function watched(showsTranscripts: boolean) {
  let kept: readonly WatchedFrame[] = [];
  const observed: unknown[] = [];
  const note = (...noted: unknown[]) => observed.push(noted);
  const observer = { leg: note, turn: note, failover: note, warned: note, audioPassed: note };
  const rig = new SessionRig({ observe: () => observer, onEnded: (frames) => (kept = frames) });
  const { watch } = watchable(rig);
  const client = await rig.open(TURNS, 'org_1', { showsTranscripts });
  const early = watch(client);
  client.session.audio(speech(3));
  await rig.advance(5_000);
  const late = watch(client, 'org_1', 0);
  await settle();
  const whileLive = client.session.log.after(0);
  client.session.control({ type: 'close' });
  await rig.advance(10_000);
  return { client, early, late, whileLive, kept, observed };
}

describe('the text of finals', () => {
  it('never reaches a watcher, the kept events or an observer without the opt-in', async () => {
    const { client, early, late, whileLive, kept, observed } = await watched(false);
    expect(client.finals.map(({ text }) => text)).toContain(SAID);
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify([early, late, whileLive, kept, observed])).not.toContain('canary');
  });

  it('reaches watchers of a live session with the opt-in, and neither its kept events nor an observer', async () => {
    const { client, early, late, kept, observed } = await watched(true);
    const said = client.finals.map(({ text }) => text);
    expect(said).toContain(SAID);
    expect(transcriptsIn(early.frames)).toEqual(said);
    expect(transcriptsIn(late.frames)).toEqual(said);
    expect(kept.at(-1)).toMatchObject({ kind: 'ended' });
    expect(JSON.stringify([kept, observed])).not.toContain('canary');
  });

  it('ends in an ellipsis where one is very long', () => {
    const log = new SessionLog(() => new Date(0), undefined, true);
    log.turn(NOTE, 'a'.repeat(TRANSCRIPT_CHARS_MAX + 1));
    log.turn(NOTE, 'b'.repeat(TRANSCRIPT_CHARS_MAX));
    const [cut, whole] = transcriptsIn(log.after(0));
    expect([cut!.length, cut!.endsWith('a…'), whole!.length]).toEqual([
      TRANSCRIPT_CHARS_MAX,
      true,
      TRANSCRIPT_CHARS_MAX,
    ]);
  });

  it('covers the latest turns, up to a bound for the session', () => {
    const log = new SessionLog(() => new Date(0), undefined, true);
    for (let turn = 1; turn <= 2 * WATCHED_FRAMES_MAX; turn++)
      log.turn({ ...NOTE, turn }, `${turn} ${'x'.repeat(990)}`);
    const frames = log.after(0);
    const kept = transcriptsIn(frames);
    expect(frames).toHaveLength(WATCHED_FRAMES_MAX);
    expect(kept.join('').length).toBeLessThanOrEqual(TRANSCRIPTS_CHARS_MAX);
    expect(kept.join('').length).toBeGreaterThan(TRANSCRIPTS_CHARS_MAX - 1_000);
    expect(kept.at(-1)).toContain(`${2 * WATCHED_FRAMES_MAX} x`);
    for (let turn = 1; turn <= 10; turn++) log.turn({ ...NOTE, turn }, 'short');
    expect(transcriptsIn(log.after(0)).slice(-10)).toEqual(Array(10).fill('short'));
  });
});
