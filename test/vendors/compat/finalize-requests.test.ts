// What vendors' clients are told of an end of a turn that they ask for: of the turn that it ends, or soon that nothing was said.
import { describe, expect, it } from 'vitest';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import type { Conversation, Step } from '../../../src/vendors/compat/dialect.ts';
import { POLL_MS } from '../../../src/vendors/compat/live.ts';
import { dialects } from '../../../src/vendors/dialects.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const SECOND = new Uint8Array(32_000);
const BASE64 = Buffer.from(SECOND).toString('base64');

interface Client {
  name: string;
  path: string;
  query?: string;
  first?: object;
  /** A second of audio in a text message. */
  audio?: object;
  end: object;
  /** What is told of silence. */
  nothing: object;
  /** What a message says of a turn that was ended by the client, and what of others. */
  marks: RegExp;
}

const RAW = { audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1, enable_endpoint_detection: true };
const CLIENTS: readonly Client[] = [
  {
    ...{ name: 'soniox', path: '/transcribe-websocket', first: { model: 'a/b', ...RAW }, end: { type: 'finalize' } },
    nothing: { tokens: [{ text: '<fin>', is_final: true }], final_audio_proc_ms: 2_000, total_audio_proc_ms: 2_000 },
    marks: /<fin>/,
  },
  {
    ...{ name: 'deepgram', path: '/v1/listen', query: 'encoding=linear16&sample_rate=16000' },
    ...{ end: { type: 'Finalize' }, marks: /"from_finalize":true/ },
    nothing: {
      ...{ type: 'Results', start: 0, duration: 2, is_final: true, speech_final: true, from_finalize: true },
      channel: { alternatives: [{ transcript: '', confidence: 0, words: [] }] },
    },
  },
  {
    ...{ name: 'elevenlabs', path: '/v1/speech-to-text/realtime' },
    audio: { message_type: 'input_audio_chunk', audio_base_64: BASE64, commit: false },
    end: { message_type: 'input_audio_chunk', audio_base_64: '', commit: true },
    nothing: { message_type: 'committed_transcript', text: '' },
    marks: /"text":""/,
  },
  {
    ...{ name: 'livekit', path: '/v1/stt', first: { type: 'session.create', settings: { sample_rate: '16000' } } },
    ...{ audio: { type: 'input_audio', audio: BASE64 }, end: { type: 'session.finalize' } },
    ...{ nothing: { type: 'session.finalized' }, marks: /session\.finalized/ },
  },
  {
    ...{ name: 'speechmatics', path: '/v2', end: { message: 'ForceEndOfUtterance' }, marks: /"forced":true/ },
    first: {
      message: 'StartRecognition',
      audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
      transcription_config: { language: 'en', enable_partials: true },
    },
    nothing: { message: 'EndOfUtterance', forced: true, metadata: { start_time: 2, end_time: 2 } },
  },
];

const wordsOf =
  (is_final: boolean) =>
  (start: number, end: number, text = 'Nine.') => ({
    ...{ type: 'transcript', is_final, turn: 0, model: 'local/digits-en', text, start, end },
  });
const final = wordsOf(true);
const interim = wordsOf(false);

const said = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];

/** Behind two seconds of audio. */
function spoken({ name, path, query = '', first, audio }: Client): Conversation {
  const endpoint = dialects.find((each) => each.name === name)?.live[path];
  if (endpoint === undefined) throw new Error(`There is no ${path} of ${name}.`);
  const conversation = endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
  if (first !== undefined) said(conversation, first);
  for (let second = 0; second < 2; second++) {
    if (audio === undefined) for (const _ of conversation.binary(SECOND));
    else said(conversation, audio);
  }
  return conversation;
}

const told = (conversation: Conversation, event: object): string[] => [
  ...conversation.encode(event as OutgoingEvent, STAMP),
];

/** What is said as time passes, and after how many milliseconds all of it was. */
function later(steps: readonly Step[]): { texts: string[]; ms: number } {
  const texts: string[] = [];
  let ms = 0;
  for (let next = steps.find(({ type }) => type === 'later'); next?.type === 'later'; ) {
    ms += next.afterMs;
    const more = [...next.steps()];
    texts.push(...more.flatMap((step) => (step.type === 'say' ? [step.text] : [])));
    next = more.find(({ type }) => type === 'later');
  }
  return { texts, ms };
}

describe.each(CLIENTS)('a client of $name that ends a turn', (client) => {
  const marksOf = (texts: readonly string[]) => texts.filter((text) => client.marks.test(text)).length;
  const isPlain = client.name !== 'elevenlabs';

  it('reports after five seconds of silence that nothing was said, and the next turn ends normally', () => {
    const conversation = spoken(client);
    const { texts, ms } = later(said(conversation, client.end));
    expect(texts.map((text) => JSON.parse(text))).toMatchObject([client.nothing]);
    expect(ms).toBe(10 * POLL_MS);
    expect(marksOf(told(conversation, final(1, 3)))).toBe(0);
  });

  it('reports that nothing was said when another turn begins after the silence', () => {
    const conversation = spoken(client);
    const steps = said(conversation, client.end);
    const [first] = told(conversation, interim(2.1, 2.5));
    expect(JSON.parse(first as string)).toMatchObject(client.nothing);
    expect(marksOf(told(conversation, final(2.1, 3)))).toBe(0);
    expect(later(steps).texts).toEqual([]);
  });

  it('gets the turn that it ended, however long its words take, and no other', () => {
    const conversation = spoken(client);
    told(conversation, interim(0.5, 1));
    const steps = said(conversation, client.end);
    let next = steps.find(({ type }) => type === 'later');
    for (let look = 0; look < 30 && next?.type === 'later'; look++) {
      const more = [...next.steps()];
      expect(more.map(({ type }) => type)).toEqual(['later']);
      next = more[0];
    }
    expect(marksOf(told(conversation, final(0.5, 1.5)))).toBeGreaterThanOrEqual(isPlain ? 1 : 0);
    expect(next?.type === 'later' && [...next.steps()]).toEqual([]);
    expect(marksOf(told(conversation, final(2, 3)))).toBe(0);
  });

  it('gets one answer for a turn without words', () => {
    const conversation = spoken(client);
    const steps = said(conversation, client.end);
    expect(marksOf(told(conversation, final(1, 2, '')))).toBe(1);
    expect(later(steps).texts).toEqual([]);
    expect(marksOf(told(conversation, final(2, 2, '')))).toBe(0);
  });

  it('gets 64 answers when it asks more often without any in between', () => {
    const conversation = spoken(client);
    const steps = Array.from({ length: 70 }, () => said(conversation, client.end)).flat();
    expect(steps.filter(({ type }) => type === 'tell')).toHaveLength(70);
    expect(later(steps).texts).toHaveLength(64);
  });
});
