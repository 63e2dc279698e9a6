// How late a commit of OpenAI's clients is answered, on a clock of the test: with the pace of the audio, the silence after the words,
// and recognisers that are slower or faster.
import { describe, expect, it } from 'vitest';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import type { Step } from '../../../src/vendors/compat/dialect.ts';
import { RealtimeConversation } from '../../../src/vendors/openai/compat/realtime.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const audioOf = (seconds: number) => Buffer.alloc(Math.round(seconds * 10) * 4_800).toString('base64');
const MODEL = { transcription: { model: 'gpt-4o-transcribe' }, turn_detection: null };

/** Words, and when the recogniser reports them. */
interface Words {
  text: string;
  start: number;
  end: number;
  atMs: number;
  isInterim?: boolean;
}

/** Where speech begins, and when it is reported. */
interface Speech {
  start: number;
  atMs: number;
}

interface Client {
  /** Seconds of audio. */
  seconds: number;
  /** Audio seconds that are sent in a second. */
  pace: number;
  /** Seconds of one message. */
  piece?: number;
  words: Words[];
  speech?: Speech[];
}

interface Completed {
  transcript: string;
  /** Milliseconds after the commit. */
  lateMs: number;
}

/** Sends the audio at its pace, commits, and gives what is completed. */
function commit({ seconds, pace, piece = 0.1, words, speech = [] }: Client): Completed[] {
  let nowMs = 0;
  const conversation = new RealtimeConversation({
    query: new URLSearchParams(),
    headers: new Map(),
    requestId: 'req_1',
    nowMs: () => nowMs,
  });
  const completed: Completed[] = [];
  const looks: { atMs: number; steps: () => Iterable<Step> }[] = [];
  let commitMs = 0;
  const tell = (text: string) => {
    const event = JSON.parse(text);
    if (event.type.endsWith('.completed')) completed.push({ transcript: event.transcript, lateMs: nowMs - commitMs });
  };
  const take = (all: Iterable<Step>) => {
    for (const step of all) {
      if (step.type === 'say') tell(step.text);
      else if (step.type === 'later') looks.push({ atMs: nowMs + step.afterMs, steps: step.steps });
    }
  };
  const send = (message: object) => take([...conversation.text(JSON.stringify(message))]);
  const events = [
    ...speech.map(({ start, atMs }) => ({ atMs, event: { type: 'speech_started', turn: 0, start } })),
    ...words.map(({ atMs, isInterim = false, ...heard }) => ({
      atMs,
      event: { type: 'transcript', is_final: !isInterim, turn: 0, model: 'm', ...heard },
    })),
  ].sort((a, b) => a.atMs - b.atMs);
  const advance = (untilMs: number) => {
    for (;;) {
      const eventMs = events[0]?.atMs ?? Number.POSITIVE_INFINITY;
      const lookMs = looks[0]?.atMs ?? Number.POSITIVE_INFINITY;
      if (Math.min(eventMs, lookMs) > untilMs) break;
      nowMs = Math.min(eventMs, lookMs);
      if (eventMs > lookMs) take([...(looks.shift() as (typeof looks)[number]).steps()]);
      else for (const text of conversation.encode(events.shift()?.event as unknown as OutgoingEvent, STAMP)) tell(text);
    }
    nowMs = untilMs;
  };
  send({ type: 'session.update', session: { type: 'transcription', audio: { input: MODEL } } });
  for (let sent = 0; sent < seconds - 1e-6; sent += piece) {
    advance(((sent + piece) * 1000) / pace);
    send({ type: 'input_audio_buffer.append', audio: audioOf(piece) });
  }
  commitMs = nowMs;
  send({ type: 'input_audio_buffer.commit' });
  advance(commitMs + 60_000);
  return completed;
}

describe('a commit at the pace of speech', () => {
  it.each([1, 1.5, 2, 3, 5, 10, 60])(
    'gets its answer within a second when %d s of silence follow the words',
    (silence) => {
      const words = [{ text: 'yes', start: 0.2, end: 1, atMs: 1_400 }];
      const [first, ...more] = commit({ seconds: 1 + silence, pace: 1, words });
      expect([first?.transcript, more]).toEqual(['yes', []]);
      expect(first?.lateMs).toBeLessThanOrEqual(1_000);
    },
  );

  it.each([1, 2, 3, 10])(
    'gets its answer within 1.5 s when the final comes with it after %d s of silence',
    (silence) => {
      const words = [{ text: 'yes', start: 0.2, end: 1, atMs: (1 + silence) * 1000 + 400 }];
      const [first] = commit({ seconds: 1 + silence, pace: 1, words });
      expect(first).toMatchObject({ transcript: 'yes' });
      expect(first?.lateMs).toBeLessThanOrEqual(1_500);
    },
  );

  it.each([3, 10])('gets its answer within a second with %d s of silence before and after the words', (silence) => {
    const words = [{ text: 'yes', start: silence, end: silence + 1, atMs: (silence + 1) * 1000 + 300 }];
    const [first] = commit({ seconds: 2 * silence + 1, pace: 1, words });
    expect(first).toMatchObject({ transcript: 'yes' });
    expect(first?.lateMs).toBeLessThanOrEqual(1_000);
  });

  it('gets its answer within a second of its last words, right after them', () => {
    const words = [{ text: 'yes', start: 4.2, end: 4.95, atMs: 5_300 }];
    const [first] = commit({ seconds: 5, pace: 1, words });
    expect(first).toMatchObject({ transcript: 'yes', lateMs: expect.closeTo(300) });
  });

  it.each([0.1, 0.5, 1, 2, 3])('gets its answer within a second with pieces of %d s', (piece) => {
    const words = [{ text: 'yes', start: 0.2, end: 1, atMs: Math.max(1, piece) * 1000 + 400 }];
    const [first] = commit({ seconds: 6, pace: 1, piece, words });
    expect(first).toMatchObject({ transcript: 'yes' });
    expect(first?.lateMs).toBeLessThanOrEqual(1_000);
  });

  it.each<[number, boolean]>([
    [2, false],
    [3, false],
    [2, true],
    [3, true],
    [4, true],
  ])('keeps the words of a recogniser that is %d s late; it reports speech: %s', (late, reportsSpeech) => {
    const spoken: [string, number, number][] = [
      ['one', 0, 1],
      ['two', 1.6, 2.6],
      ['three', 3.2, 4.2],
    ];
    const words = spoken.map(([text, start, end]) => ({ text, start, end, atMs: (end + late) * 1000 }));
    const speech = reportsSpeech ? spoken.map(([, start]) => ({ start, atMs: start * 1000 + 300 })) : [];
    const completed = commit({ seconds: 4.5, pace: 1, words, speech });
    expect(completed.map(({ transcript }) => transcript)).toEqual(['one two three']);
  });

  it('waits for words that may still change', () => {
    const words = [
      { text: 'one', start: 0, end: 1, atMs: 1_300, isInterim: true },
      { text: 'one two', start: 0, end: 2, atMs: 5_000 },
    ];
    expect(commit({ seconds: 3, pace: 1, words })).toMatchObject([{ transcript: 'one two' }]);
  });
});

describe('a commit of audio that was sent faster than it was spoken', () => {
  it.each([5, 10, 1_000])('keeps every turn of a recogniser at the pace of speech: %d times as fast', (pace) => {
    const words = [1, 3, 5, 7, 9, 11].map((start) => ({
      ...{ text: `word${start}`, start, end: start + 1.5, atMs: (start + 2) * 1000 },
    }));
    const completed = commit({ seconds: 12.5, pace, words });
    expect(completed.map(({ transcript }) => transcript)).toEqual([words.map(({ text }) => text).join(' ')]);
  });
});
