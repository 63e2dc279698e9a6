// The simulated AssemblyAI keeps AssemblyAI's rules, and misbehaves only in the ways it is told to.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../../machines/clock.ts';
import { simulator } from '../../../src/vendors/assemblyai/simulator/index.ts';
import { type EarSource, numberedEar, scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { dial, isFinal, milliseconds } from './assemblyai-client.ts';
import { type Client, closeAll, type Message, serve } from './client.ts';

afterEach(closeAll);

interface Setting {
  ear?: EarSource;
  faults?: readonly string[];
  clock?: Clock;
}

const SCRIPT = scriptEar({ turns: [{ text: 'book a table', seconds: 0.3 }], interim_seconds: 0.1 });

/** Opened, or closed at once. */
async function session(query: Record<string, string> = {}, setting: Setting = {}, key?: string): Promise<Client> {
  const asked = { speech_model: 'universal-streaming-english', ...query };
  return dial(await serve({ simulator, ear: SCRIPT, clock: new SimulatedClock(), ...setting }), asked, key);
}

/** A session that has begun. */
async function begun(query?: Record<string, string>, setting?: Setting): Promise<Client> {
  const client = await session(query, setting);
  await client.message('Begin');
  return client;
}

const U3 = { speech_model: 'u3-rt-pro' };
const FORMATTING = { speech_model: 'universal-streaming-english', format_turns: 'true' };
const brief = ({ end_of_turn, turn_is_formatted, transcript }: Message) => [end_of_turn, turn_is_formatted, transcript];

describe('audio', () => {
  it.each([
    ['shorter than 50 ms', 49, 'Input duration violation: 49.0 ms. Expected between 50 and 1000 ms'],
    ['longer than 1000 ms', 1_001, 'Input duration violation: 1001.0 ms. Expected between 50 and 1000 ms'],
  ])('%s is refused: an Error, then a close', async (_, ms, reason) => {
    const client = await begun();
    client.send(milliseconds(ms));
    expect(await client.closed).toEqual({ code: 3007, reason });
    expect(client.said.at(-1)).toEqual({ type: 'Error', error_code: 3007, error: reason });
  });

  it('works in frames of 50 and 1000 ms', async () => {
    const clock = new SimulatedClock();
    const client = await begun({}, { clock });
    client.send(milliseconds(50));
    await client.settled();
    clock.increment(1_000);
    client.send(milliseconds(1_000));
    expect(brief(await client.message(isFinal, 3))).toEqual([true, false, 'book a table']);
  });

  it('may come at 1.25 times real time and five minutes ahead of that, and no more, also after a silence', async () => {
    const clock = new SimulatedClock();
    const client = await begun({}, { clock });
    clock.increment(60_000);
    for (let second = 0; second < 300; second++) client.send(milliseconds(1_000));
    await client.settled();
    clock.increment(8_000);
    for (let second = 0; second < 10; second++) client.send(milliseconds(1_000));
    await client.settled();
    expect(client.said.filter(({ type }) => type === 'Error')).toEqual([]);
    client.send(milliseconds(100));
    expect(await client.closed).toEqual({
      code: 3007,
      reason: 'Audio Transmission Rate Exceeded: Received 310.10 sec. audio in 8.00 sec',
    });
  });
});

describe('a session', () => {
  it.each([
    ['without a key', '', 'Unauthorized Connection: Missing Authorization header'],
    ['with a refused key', 'bad-key', 'Unauthorized Connection: Missing Authorization header'],
    ['with Bearer before the key', 'Bearer key-1', 'Unauthorized Connection: Missing Authorization header'],
    ['of an account without funds', 'broke-key', 'Unauthorized Connection: Insufficient account balance'],
    ['too many', 'limited-key', 'Unauthorized Connection: Too many concurrent sessions'],
  ])('%s is refused after the upgrade', async (_, key, reason) => {
    const client = await session({}, {}, key);
    expect(await client.closed).toEqual({ code: 1008, reason });
    expect(client.said).toEqual([{ type: 'Error', error_code: 1008, error: reason }]);
  });

  it.each<[Record<string, string>, string]>([
    [{ speech_model: 'nova-3' }, 'unknown speech_model nova-3'],
    [{ speech_model: 'ü'.repeat(300) }, 'unknown speech_model ????'],
    [{ sample_rate: '7000' }, 'sample_rate: send a whole number from 8000 to 48000'],
    [{ format_turns: '1' }, 'format_turns: send true or false'],
    [{ encoding: 'opus' }, 'encoding: send "pcm_s16le"'],
    [{ keyterms_prompt: 'a,b' }, 'keyterms_prompt: send a list, each a text'],
  ])('asking for %j is refused', async (query, words) => {
    const { code, reason } = await (await session(query)).closed;
    expect([code, reason]).toEqual([3006, expect.stringContaining(words)]);
  });

  it.each<[string, string]>([
    ['{', 'Invalid JSON: {'],
    ['[]', 'Invalid Message: []'],
    ['{"type":"Nonsense"}', 'Invalid Message Type: Nonsense'],
  ])('closes with 3006 when it sends %s', async (text, reason) => {
    const client = await begun();
    client.send(text);
    expect(await client.closed).toEqual({ code: 3006, reason });
  });

  it('ends with the turns in flight, Termination and a close, with its duration', async () => {
    const clock = new SimulatedClock();
    const client = await begun({}, { clock });
    client.send({ type: 'KeepAlive' });
    client.send(milliseconds(200));
    await client.message('Turn');
    clock.increment(14_000);
    client.send({ type: 'Terminate' });
    client.send(milliseconds(100));
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
    expect(client.said.slice(-2).map(({ type }) => type)).toEqual(['Turn', 'Termination']);
    expect(client.said.at(-2)).toMatchObject({ end_of_turn: true, words: [{}, {}, { end: 200 }] });
    expect(client.said.at(-1)).toEqual({
      type: 'Termination',
      audio_duration_seconds: 0,
      session_duration_seconds: 14,
    });
  });

  it('gets the name of its model: the newest by default, another by a quirk', async () => {
    const named = async (query: Record<string, string>, faults: readonly string[] = []) => {
      const client = dial(await serve({ simulator, ear: SCRIPT, clock: new SimulatedClock(), faults }), query);
      return (await client.message('Begin')).configuration;
    };
    expect(await named({ modle: 'whisper-rt' })).toEqual({ model: 'universal-3-6-pro' });
    expect(await named(U3)).toEqual({ model: 'u3-rt-pro' });
    expect(await named(U3, ['other-model=whisper-rt'])).toEqual({ model: 'whisper-rt' });
  });

  it('fails with a good key once, by a quirk', async () => {
    const server = await serve({ simulator, ear: SCRIPT, clock: new SimulatedClock(), faults: ['incorrect-padding'] });
    expect(await dial(server).closed).toEqual({ code: 1008, reason: 'Unauthorized connection: Incorrect padding' });
    await dial(server).message('Begin');
  });

  it('reaches its limit of three hours', async () => {
    const clock = new SimulatedClock();
    const client = await begun({}, { clock });
    clock.increment(3 * 3_600_000);
    expect(await client.closed).toEqual({ code: 3008, reason: 'Session Expired: Maximum session duration exceeded' });
  });

  it('counts as abandoned without Terminate, and otherwise not', async () => {
    let ended = () => {};
    const onEnd = () => ended();
    const server = await serve({ simulator, ear: SCRIPT, clock: new SimulatedClock(), onEnd });
    for (const isPolite of [false, true]) {
      const end = new Promise<void>((resolve) => {
        ended = resolve;
      });
      const client = dial(server);
      await client.message('Begin');
      if (isPolite) client.send({ type: 'Terminate' });
      else client.socket.terminate();
      await end;
    }
    expect(await (await fetch(`${server.url}/simulator/sessions`)).json()).toEqual({
      open: 0,
      terminated: 1,
      abandoned: 1,
    });
  });

  it('flushes by ForceEndpoint, and changes by UpdateConfiguration', async () => {
    const client = await begun({ speech_model: 'universal-streaming-english' });
    client.send(milliseconds(100));
    client.send({ type: 'ForceEndpoint' });
    expect(brief(await client.message(isFinal))).toEqual([true, false, 'book a table']);
    client.send({ type: 'UpdateConfiguration', format_turns: true });
    client.send(milliseconds(100));
    client.send({ type: 'ForceEndpoint' });
    expect(brief(await client.message(isFinal, 3))).toEqual([true, true, 'Book a table.']);
  });
});

describe('turns', () => {
  /** The first turn of a model, from its first interim to the end of its formatted version, if any. */
  async function firstTurn(query: Record<string, string>, faults: readonly string[] = []): Promise<Message[]> {
    const client = await begun(query, { faults });
    for (let frame = 0; frame < 3; frame++) client.send(milliseconds(100));
    client.send({ type: 'Terminate' });
    await client.closed;
    return client.all('Turn').filter(({ turn_order }) => turn_order === 0);
  }

  it.each<[string, Record<string, string>, string[], unknown[][]]>([
    [
      'A',
      FORMATTING,
      [],
      [
        [true, false, 'book a table'],
        [true, true, 'Book a table.'],
      ],
    ],
    [
      'A',
      { ...FORMATTING, speech_model: 'whisper-rt' },
      [],
      [
        [true, false, 'book a table'],
        [true, true, 'Book a table.'],
      ],
    ],
    ['C', { speech_model: 'universal-streaming-english' }, [], [[true, false, 'book a table']]],
    ['C', { speech_model: 'whisper-rt' }, [], [[true, false, 'book a table']]],
    ['D', { speech_model: 'universal-streaming-multilingual' }, [], [[true, false, 'Book a table.']]],
    ['D', { ...FORMATTING, speech_model: 'universal-streaming-multilingual' }, [], [[true, false, 'Book a table.']]],
    ['D', U3, [], [[true, true, 'Book a table.']]],
    ['B', { speech_model: 'universal-streaming-english' }, ['regime=b'], [[true, true, 'Book a table.']]],
    ['A without the formatted final', FORMATTING, ['formatted-never'], [[true, false, 'book a table']]],
    ['C by the quirk', FORMATTING, ['regime=c'], [[true, false, 'book a table']]],
    [
      'A by the quirk',
      U3,
      ['regime=a'],
      [
        [true, false, 'book a table'],
        [true, true, 'Book a table.'],
      ],
    ],
    ['D by the quirk', { speech_model: 'universal-streaming-english' }, ['regime=d'], [[true, false, 'Book a table.']]],
  ])('end, in regime %s with %j and %j, like this', async (_, query, faults, ends) => {
    const turns = await firstTurn(query, faults);
    expect(turns.filter(isFinal).map(brief)).toEqual(ends);
    const [partial] = turns;
    expect(partial).toMatchObject({
      end_of_turn: false,
      turn_is_formatted: faults.includes('regime=b'),
      utterance: '',
    });
  });

  it('keep a transcript behind the words in Universal-Streaming', async () => {
    const [partial, later] = await firstTurn({ speech_model: 'universal-streaming-english', speaker_labels: 'true' });
    expect(partial).toMatchObject({
      transcript: '',
      words: [{ text: 'book', start: 0, end: 100, word_is_final: false }],
    });
    expect(later).toMatchObject({
      transcript: 'book',
      speaker_label: 'UNKNOWN',
      words: [
        { text: 'book', word_is_final: true, speaker: 'A' },
        { text: 'a', word_is_final: false },
      ],
    });
  });

  it('show a dash where they continue in Universal-3, and settle only at the end', async () => {
    const client = await begun({ ...U3, language_detection: 'true' });
    client.send(milliseconds(100));
    expect(await client.message('SpeechStarted')).toMatchObject({ timestamp: 0 });
    expect(await client.message('Turn')).toMatchObject({
      transcript: 'book—',
      language_code: 'en',
      words: [{ text: 'book—', word_is_final: false }],
    });
  });

  it('contain words for silence, without confidence, in Whisper', async () => {
    const client = await begun(
      { speech_model: 'whisper-rt' },
      { ear: scriptEar({ turns: [{ text: '', seconds: 0.2 }] }) },
    );
    client.send(milliseconds(200));
    expect(await client.message(isFinal)).toMatchObject({
      transcript: '[ Silence]',
      words: [
        { text: '[', confidence: 0 },
        { text: 'Silence]', confidence: 0 },
      ],
    });
  });

  it('contain words of pending speakers by a quirk, revised afterwards', async () => {
    const turns = await begun({ speaker_labels: 'true' }, { faults: ['pending-speakers'] });
    turns.send(milliseconds(300));
    expect(await turns.message(isFinal)).toMatchObject({ words: [{ speaker: 'A' }, {}, { speaker: 'PENDING' }] });
    expect(await turns.message('SpeakerRevision')).toMatchObject({
      revisions: [{ turn_order: 0, words: { length: 3 } }],
    });
  });

  it('end also without words', async () => {
    const client = await begun({}, { ear: scriptEar({ turns: [{ text: '', seconds: 0.2 }] }) });
    client.send(milliseconds(200));
    expect(await client.message(isFinal)).toMatchObject({ turn_order: 0, transcript: '', words: [] });
  });

  it('end where an ear with words ends them', async () => {
    const client = await begun({}, { ear: numberedEar({ turnSeconds: 0.125 }) });
    client.send(numberedAudio(0, 4_000));
    expect(await client.message(isFinal, 2)).toMatchObject({ turn_order: 1, words: [{ start: 125, end: 250 }] });
  });
});

describe('the quirk', () => {
  it('begin-late holds Begin back', async () => {
    const clock = new SimulatedClock();
    const client = await session({}, { clock, faults: ['begin-late=500'] });
    await client.opened;
    clock.increment(499);
    await client.settled();
    expect(client.said).toEqual([]);
    clock.increment(1);
    await client.message('Begin');
  });

  it('formatted-late holds the formatted version back, and Termination waits for it', async () => {
    const clock = new SimulatedClock();
    const client = await begun(FORMATTING, { clock, faults: ['formatted-late=400'] });
    client.send(milliseconds(300));
    client.send({ type: 'Terminate' });
    await client.message(isFinal);
    clock.increment(399);
    await client.settled();
    expect(client.said.filter(isFinal)).toHaveLength(1);
    clock.increment(1);
    expect(brief(await client.message(isFinal, 2))).toEqual([true, true, 'Book a table.']);
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
  });

  it('swallow-force-endpoint ends no turn', async () => {
    const client = await begun({}, { faults: ['swallow-force-endpoint'] });
    client.send(milliseconds(100));
    client.send({ type: 'ForceEndpoint' });
    client.send(milliseconds(200));
    const final = await client.message(isFinal);
    expect(final).toMatchObject({ words: [{}, {}, { end: 300 }] });
  });

  it('leaves the connection open with no-termination, after the turns in flight', async () => {
    const client = await begun({}, { faults: ['no-termination'] });
    client.send(milliseconds(100));
    client.send({ type: 'Terminate' });
    await client.message(isFinal);
    await client.settled();
    expect([client.said.at(-1)?.type, client.socket.readyState]).toEqual(['Turn', 1]);
  });

  it.each([1008, 3009])('concurrent-%i refuses every session', async (code) => {
    const { closed } = await session({}, { faults: [`concurrent-${code}`] });
    expect(await closed).toEqual({ code, reason: 'Unauthorized Connection: Too many concurrent sessions' });
  });
});
