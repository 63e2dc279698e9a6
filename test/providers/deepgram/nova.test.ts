// Live Nova, message by message: which windows make a turn, where it ends, and what is sent.
import { describe, expect, it } from 'vitest';
import { live } from '../../../src/providers/deepgram/live.ts';
import { type Leg, legRequest, legWith, read, results, shown } from './support.ts';

const queryOf = (...args: Parameters<typeof legRequest>) => {
  const { endpoint } = live.open(legRequest(...args));
  return endpoint.kind === 'websocket' ? new URL(endpoint.url) : expect.unreachable();
};

/** What the leg is given, and what it makes of it. */
type Story = [given: unknown | ((leg: Leg) => readonly unknown[]), said: string[]][];

const FINISH = (leg: Leg) => live.finish(leg);
const METADATA = { type: 'Metadata', duration: 4 };
const END = { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1.5 };

const STORIES: Readonly<Record<string, Story>> = {
  'joins the windows of a turn, up to its end of speech': [
    [{ type: 'SpeechStarted', channel: [0], timestamp: 0.25 }, ['speech 0.25']],
    [results('book', 0, 0.5), ['partial 0 "book" 0-0.5']],
    [results('Book a', 0, 1, 'f'), ['piece 0 "Book a" 0-1']],
    [results('table', 1, 1.5), ['partial 0 "table" 1-1.5']],
    [results('table.', 1, 2, 'fs'), ['piece 0 "table." 1-2', 'turn.ended 0 joined']],
    [END, []],
    [results('Yes.', 2, 3, 'fs'), ['piece 1 "Yes." 2-3', 'turn.ended 1 joined']],
  ],
  'ends a turn at UtteranceEnd where noise hides the end of speech': [
    [results('Hello', 0, 1, 'f'), ['piece 0 "Hello" 0-1']],
    [END, ['turn.ended 0 joined']],
    [END, []],
  ],
  'ends a turn where its last window does, though that has no words': [
    [results('Hello', 0, 1, 'f'), ['piece 0 "Hello" 0-1']],
    [results('', 1, 2, 'f'), ['piece 0 "" 1-2']],
    [results('', 2, 2.5, 'fs'), ['piece 0 "" 2-2.5', 'turn.ended 0 joined']],
  ],
  'ends a turn by an end of speech that comes behind its words': [
    [results('Hello', 0, 1, 'f'), ['piece 0 "Hello" 0-1']],
    [results('', 1, 1, 'fs'), ['piece 0 "" 1-1', 'turn.ended 0 joined']],
  ],
  'makes a turn of each settled window of silence': [
    [results('', 0, 1), ['partial 0 "" 0-1']],
    [results('', 0, 3, 'f'), ['turn.ended 0 "" 0-3']],
    [results('', 3, 6, 'fs'), ['turn.ended 1 "" 3-6']],
  ],
  'takes a window said twice once, and two turns with the same words twice': [
    [results('Yes.', 0, 1, 'fs'), ['piece 0 "Yes." 0-1', 'turn.ended 0 joined']],
    [results('Yes.', 0, 1, 'fs'), []],
    [results('Yes', 0, 0.5), []],
    [results('Yes.', 1, 2, 'fs'), ['piece 1 "Yes." 1-2', 'turn.ended 1 joined']],
  ],
  'ends a turn at once when its end was asked for': [
    [(leg: Leg) => live.finalize(leg), ['send {"type":"Finalize"}', 'wake 1000']],
    [results('Hello', 0, 1, 'fz'), ['piece 0 "Hello" 0-1', 'turn.ended 0 joined']],
    [(leg: Leg) => live.wake?.(leg) ?? [], []],
  ],
  'ends a settled turn when Finalize is not answered': [
    [results('Hello', 0, 1, 'f'), ['piece 0 "Hello" 0-1']],
    [(leg: Leg) => live.finalize(leg), ['send {"type":"Finalize"}', 'wake 1000']],
    [(leg: Leg) => live.wake?.(leg) ?? [], ['turn.ended 0 joined']],
  ],
  'never ends a turn whose words are not settled, also when Finalize is not answered': [
    [results('Hello', 0, 1, 'f'), ['piece 0 "Hello" 0-1']],
    [results('wor', 1, 1.5), ['partial 0 "wor" 1-1.5']],
    [(leg: Leg) => live.finalize(leg), ['send {"type":"Finalize"}', 'wake 1000']],
    [(leg: Leg) => live.wake?.(leg) ?? [], []],
  ],
  'finishes at Metadata, and ends the turn that is settled by then': [
    [FINISH, ['send {"type":"CloseStream"}']],
    [results('Bye', 0, 1, 'f'), ['piece 0 "Bye" 0-1']],
    [METADATA, ['turn.ended 0 joined', 'finished']],
  ],
  'finishes when the provider closes without Metadata': [
    [FINISH, ['send {"type":"CloseStream"}']],
    [results('Bye.', 0, 1, 'fs'), ['piece 0 "Bye." 0-1', 'turn.ended 0 joined']],
    [(leg: Leg) => [live.closed(leg, 1000, '')], ['finished']],
  ],
  'fails when the provider closes with words that are not final': [
    [FINISH, ['send {"type":"CloseStream"}']],
    [results('Bye', 0, 1), ['partial 0 "Bye" 0-1']],
    [(leg: Leg) => [live.closed(leg, 1005, '')], ['failed retry final_missing']],
  ],
  'fails when the provider closes with a turn that was not ended': [
    [results('Bye', 0, 1, 'f'), ['piece 0 "Bye" 0-1']],
    [FINISH, ['send {"type":"CloseStream"}']],
    [(leg: Leg) => [live.closed(leg, 1000, '')], ['failed retry final_missing']],
  ],
  'takes a close that was not asked for as a failure': [
    [(leg: Leg) => [live.closed(leg, 1000, '')], ['failed retry close_1000']],
  ],
  'tells of an error message once, and goes on': [
    [{ type: 'Error', description: 'odd' }, ['warned']],
    [{ type: 'Error', description: 'odd' }, []],
    [results('Yes.', 0, 1, 'fs'), ['piece 0 "Yes." 0-1', 'turn.ended 0 joined']],
  ],
  'makes nothing of what it cannot read': [
    [undefined, []],
    [[], []],
    ['text', []],
    [{ type: 'Novelty' }, []],
    [{ type: 'SpeechStarted', timestamp: 'now' }, []],
    [{ ...results('x', 0, 1, 'fs'), start: Number.NaN }, []],
    [{ ...results('x', 0, 1, 'fs'), channel: { alternatives: [] } }, []],
    [{ ...results('x', 0, 1, 'fs'), duration: '1' }, []],
  ],
  'keeps words whose times are below zero': [
    [{ ...results('x', 0, 1, 'fs'), start: -1 }, ['piece 0 "x" 0-1', 'turn.ended 0 joined']],
  ],
};

describe('live Nova', () => {
  it.each(Object.entries(STORIES))('%s', (_name, story) => {
    const leg = legWith('nova-3', 10);
    for (const [given, said] of story) {
      const steps = typeof given === 'function' ? (given(leg) as ReturnType<typeof read>) : read(leg, given);
      expect(shown(steps)).toEqual(said);
    }
  });

  it('makes no word of a provider’s window reach beyond the audio that was sent', () => {
    const leg = legWith('nova-3', 2);
    expect(shown(read(leg, results('far', 1, 1e9, 'fs')))).toEqual(['piece 0 "far" 1-2', 'turn.ended 0 joined']);
    // And goes on hearing.
    live.audio(leg, new Uint8Array(64_000));
    expect(shown(read(leg, results('on', 2, 3)))).toEqual(['partial 1 "on" 2-3']);
    expect(shown(read(leg, results('on', 2, 4, 'fs')))).toEqual(['piece 1 "on" 2-4', 'turn.ended 1 joined']);
  });

  it('reads words formatted, with speakers from 0 in the order they are first heard, and begins where they do', () => {
    const leg = legWith('nova-3', 5);
    const words = [
      { word: 'yes', punctuated_word: 'Yes.', start: 1.25, end: 1.5, confidence: 0.75, speaker: 7 },
      { word: 'no', start: 1.5, end: 2, speaker: 2 },
    ];
    expect(read(leg, results('Yes. no', 1, 2, 'f', words))).toEqual([
      {
        type: 'piece',
        turnId: '0',
        utterance: {
          text: 'Yes. no',
          start: 1.25,
          end: 2,
          confidence: 0.9,
          words: [
            { word: 'Yes.', start: 1.25, end: 1.5, confidence: 0.75, speaker: 0 },
            { word: 'no', start: 1.5, end: 2, speaker: 1 },
          ],
        },
      },
    ]);
    const [piece] = read(leg, results('no', 2, 3, 'f', [{ word: 'no', start: 2, end: 3, speaker: 2 }]));
    expect(piece).toMatchObject({ utterance: { speaker: 1 } });
  });

  it('names the language that switching heard', () => {
    const message = results('hola', 0, 1, 'f');
    Object.assign(message.channel.alternatives[0] as object, { languages: ['es', 'en'] });
    expect(read(legWith('nova-3', 5), message)[0]).toMatchObject({ utterance: { language: 'es' } });
  });

  it('is ready as soon as it is connected, and sends audio as it is but never an empty frame', () => {
    const leg = legWith('nova-3', 0);
    expect(live.opened?.(leg)).toEqual([{ type: 'ready' }]);
    const frame = new Uint8Array(640);
    expect(live.audio(leg, frame)).toBe(frame);
    expect(live.audio(leg, new Uint8Array(0))).toEqual({ type: 'KeepAlive' });
  });

  it('keeps a connection by a message once audio was sent, before that by silence that its times do not show', () => {
    const leg = legWith('nova-3', 0);
    expect(live.keepAlive(leg)).toEqual([new Uint8Array(3_200)]);
    expect(live.keepAlive(leg)).toEqual([{ type: 'KeepAlive' }]);
    live.audio(leg, new Uint8Array(64_000));
    const [step] = read(leg, results('x', 0, 1.1, 'f', [{ word: 'x', start: 0.6, end: 1.1 }]));
    expect(step).toMatchObject({ utterance: { start: 0.5, end: 1, words: [{ start: 0.5, end: 1 }] } });
    live.finish(leg);
    expect(live.keepAlive(leg)).toEqual([]);
  });

  it('stops the provider’s meter when it is let go of, once', () => {
    const leg = legWith('nova-3', 1);
    expect(live.leave?.(leg)).toEqual([{ type: 'CloseStream' }]);
    live.finish(leg);
    expect(live.leave?.(leg)).toEqual([]);
  });

  it('asks for interims, ends of turns and formatting, at the public address with the key in a header', () => {
    const url = queryOf('nova-3');
    expect(`${url.origin}${url.pathname}`).toBe('wss://api.deepgram.com/v1/listen');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      model: 'nova-3',
      encoding: 'linear16',
      sample_rate: '16000',
      channels: '1',
      interim_results: 'true',
      endpointing: '300',
      utterance_end_ms: '1000',
      vad_events: 'true',
      smart_format: 'true',
    });
    const { endpoint, hello } = live.open(legRequest('nova-3'));
    expect(endpoint).toMatchObject({ headers: { authorization: 'Token key-of-the-test' } });
    expect(hello).toEqual([]);
  });

  it.each([
    ['auto', 'multi'],
    ['fr', 'fr'],
    ['pt-br', 'pt-BR'],
    ['fr-BE', 'fr'],
    ['tlh', null],
    [undefined, null],
  ])('hears the language %s as %s', (language, expected) => {
    expect(queryOf('nova-3', { language }).searchParams.get('language')).toBe(expected);
  });

  it('lets the client’s options win over its own, repeats lists, and leaves out what it does not honour', () => {
    const params = {
      endpointing: false,
      smart_format: false,
      keyterm: ['Voxgate', 'two words'],
      redact: ['pci', 'ssn'],
      diarize_model: 'v1',
      multichannel: true,
      keywords: ['x:2'],
      eot_threshold: 0.9,
      unheard_of: 1,
    };
    const query = queryOf('nova-3', { diarization: true, params }).searchParams;
    expect(query.get('endpointing')).toBe('false');
    expect(query.get('smart_format')).toBe('false');
    expect(query.getAll('keyterm')).toEqual(['Voxgate', 'two words']);
    expect(query.getAll('redact')).toEqual(['pci', 'ssn']);
    expect(query.getAll('diarize_model')).toEqual(['v1']);
    for (const name of ['multichannel', 'keywords', 'eot_threshold', 'unheard_of']) expect(query.has(name)).toBe(false);
    expect(queryOf('nova-3', { diarization: true }).searchParams.get('diarize_model')).toBe('latest');
  });
});
