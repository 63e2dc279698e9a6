// Every fault as the peer sees it, with the clock moved by hand: what a simulated provider says, when, and how it ends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EarMessage } from '../../../../src/vendors/kit/simulation.ts';
import { FAULTS } from '../../../../src/vendors/simulation/faults.ts';
import { Hearing } from '../../../../src/vendors/simulation/hearing.ts';
import { withInventedTurns } from '../../../../src/vendors/simulation/invented-text.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { timersOf } from '../../../live/session/support.ts';
import { Performance, perform, request } from './performance.ts';
import { tinyProvider } from './tiny-provider.ts';

const WHOLE = [
  '0 hello',
  '0 ready',
  '0 speech_started 0-',
  '0 interim "0-800" 0-0.1',
  '500 interim "0-4800" 0-0.6',
  '900 final "0-8000" 0-1 word at 0',
  '1000 speech_started 1-',
  '1000 interim "8000-8800" 1-1.1',
  '1500 interim "8000-12800" 1-1.6',
  '1900 final "8000-16000" 1-2 word at 1',
];

describe('a simulated provider', () => {
  it('sends without faults what its ear transcribed', async () => {
    expect((await perform([])).seen).toEqual(WHOLE);
  });

  /** What is different from WHOLE after two seconds, and the end of the story. */
  it.each<[string[], string[]]>([
    [['error-after=0'], [...WHOLE.slice(0, 2), '0 error tiny_failure', '0 close 1011 tiny']],
    [['error-after=250ms'], [...WHOLE.slice(0, 4), '300 error tiny_failure', '300 close 1011 tiny']],
    [['close-after=1s'], [...WHOLE.slice(0, 6), '900 close 1011']],
    [['close-after=1050ms:4008'], [...WHOLE.slice(0, 7), '1000 interim "8000-8400" 1-1.05', '1000 close 4008']],
    [['close-after=0'], ['0 hello', '0 ready', '0 close 1011']],
    [['drop-after=500ms'], [...WHOLE.slice(0, 4), '400 drop']],
    [['stall-after=1s'], WHOLE.slice(0, 6)],
    [['freeze-after=1s'], [...WHOLE.slice(0, 6), '900 freeze']],
    [['mute'], []],
    [['duplicate-finals'], WHOLE.flatMap((line) => (line.includes('final') ? [line, line] : [line]))],
    [
      ['late-finals=200ms'],
      [...WHOLE.slice(0, 5), ...WHOLE.slice(6, 8), '1100 final "0-8000" 0-1 word at 0', ...WHOLE.slice(8, 9)],
    ],
    [
      ['late-final-after-next'],
      [...WHOLE.slice(0, 5), ...WHOLE.slice(6, 8), '1000 final "0-8000" 0-1 word at 0', ...WHOLE.slice(8, 9)],
    ],
    [['revised-interims'], WHOLE.map((line) => line.replace(/^(0|1000) interim "\S+"/, '$1 interim "erm"'))],
    [['empty-finals=2'], [...WHOLE.slice(0, 9), '1900 final "" 1-2 word at none']],
    [['unknown-messages'], WHOLE.flatMap((line) => [line.replace(/ .*/, ' unheard_of'), line])],
    [['binary-messages'], WHOLE.flatMap((line) => [line.replace(/ .*/, ' binary 4'), line])],
    [
      ['non-object-json'],
      WHOLE.flatMap((line, index) => [
        line.replace(/ .*/, ` text ${['[]', 'null', '7', '"text"', 'true', '{"type":'][index % 6]}`),
        line,
      ]),
    ],
    [['huge-message'], ['0 hello', '0 text {"type":"huge","fill', ...WHOLE.slice(1)]],
    [['huge-message=1s'], [...WHOLE.slice(0, 6), '900 text {"type":"huge","fill', ...WHOLE.slice(6)]],
    [['invalid-utf8'], ['0 hello', '0 raw 6', ...WHOLE.slice(1)]],
    [['deflate-bomb=1s'], [...WHOLE.slice(0, 6), expect.stringMatching(/^900 raw \d+$/), ...WHOLE.slice(6)]],
    [['tiny-fragments'], [expect.stringMatching(/^0 raw \d+$/), ...WHOLE.slice(1)]],
    [
      ['restart-times'],
      WHOLE.map((line) =>
        line
          .replace(/ 1-(?:([\d.]+))?/, (_, end) => ` 0-${end === undefined ? '' : +(end - 1).toFixed(3)}`)
          .replace('word at 1', 'word at 0'),
      ),
    ],
    [['latency=100ms'], WHOLE.slice(0, 10).map((line) => line.replace(/^\d+/, (at) => String(+at + 100)))],
    [['shout', 'volume=11'], WHOLE],
    [
      ['duplicate-finals', 'unknown-messages', 'close-after=1s:1000', 'latency=100ms', 'empty-finals=1'],
      [
        ...WHOLE.slice(0, 5).flatMap((line) => [line.replace(/ .*/, ' unheard_of'), line]),
        '900 unheard_of',
        '900 final "" 0-1 word at none',
        '900 final "" 0-1 word at none',
        '900 close 1000',
      ].map((line) => line.replace(/^\d+/, (at) => String(+at + 100))),
    ],
  ])('behaves as planned with %j', async (faults, seen) => {
    const performance = await perform(faults);
    expect(rounded(performance.seen)).toEqual(seen);
    performance.connection.gone(1006);
    await settle();
    expect(timersOf(performance.clock)).toBe(0);
    const [story] = performance.stories;
    const played = faults.map((each) => each.split('=')[0] as string).filter((name) => Object.hasOwn(FAULTS, name));
    expect(story?.split('; played ')[1]?.split(', ').sort() ?? []).toEqual(played.sort());
    expect(performance.faults).toEqual([]);
  });

  it.each([
    ['duplicate-finals'],
    ['late-finals=200ms'],
    ['late-final-after-next'],
    ['empty-finals=2'],
    ['revised-interims'],
    ['unknown-messages'],
    ['tiny-fragments'],
    ['error-after=250ms'],
  ])('behaves the same in bytes with %s', async (fault) => {
    const encode = (message: object) => Buffer.from(JSON.stringify(message));
    const [inJson, inBytes] = [await perform([fault]), await perform([fault], 2, { ...tinyProvider, encode })];
    const isMessage = /^(\d+) (?!raw|close)/;
    expect(inBytes.seen).toEqual(inJson.seen.map((line) => line.replace(isMessage, '$1 encoded ')));
  });

  it('refuses every upgrade and request in its own words with refuse', async () => {
    const { stage, stories } = new Performance(['refuse=429']);
    const answer = tinyProvider.refusal(429);
    expect([stage.upgrade(request), stage.upgrade(request)]).toEqual([
      { type: 'refuse', answer },
      { type: 'refuse', answer },
    ]);
    expect(await stage.http(request)).toEqual(answer);
    expect(stories).toEqual([1, 2, 3].map((number) => `#${number} GET /listen: refused with 429`));
  });

  it.each([
    [['refuse-next=2'], [503, 503, 'accept', 'accept']],
    [
      ['refuse-next=1', 'refuse=402'],
      [402, 'accept', 'accept', 'accept'],
    ],
  ])('refuses only the first with %j', (faults, seen) => {
    const { stage } = new Performance(faults);
    const ends = seen.map(() => {
      const upgrade = stage.upgrade(request);
      return upgrade.type === 'refuse' ? upgrade.answer.status : upgrade.type;
    });
    expect(ends).toEqual(seen);
  });

  it.each([
    ['hang', 'hang'],
    ['mute', 'accept'],
  ])('answers no request with %s', async (fault, upgrade) => {
    const { stage } = new Performance([fault]);
    expect([stage.upgrade(request).type, await stage.http(request)]).toEqual([upgrade, undefined]);
  });

  it('sends the last final with slow-close, and confirms neither end nor close', async () => {
    const performance = await new Performance(['slow-close']).connect();
    await performance.speak(0.3);
    await performance.say('finish');
    await performance.say('bye');
    expect(performance.seen.at(-1)).toBe('300 final "0-2400" 0-0.3 word at 0');
    expect(performance.connection.answersClose()).toBe(false);
    performance.connection.gone(1000);
    expect(performance.stories[0]).toMatch(/closed by the client with 1000; played slow-close$/);
  });

  it('delays the rest with slow-tail, in order, and then closes', async () => {
    const performance = await new Performance(['slow-tail=2s']).connect();
    await performance.speak(0.3);
    await performance.say('finish');
    expect(performance.seen.join()).not.toContain('final');
    await performance.pass(2_000);
    const left = performance.seen.slice(-3).map((line) => line.replace(/^\d+ /, ''));
    expect(left).toEqual(['final "0-2400" 0-0.3 word at 0', 'finished', 'close 1000 done']);
  });

  it('settles empty windows with empty-start until something is transcribed, and numbers turns after them', async () => {
    const told: string[] = [];
    let say: (message: EarMessage) => void = () => {};
    const hearing = new Hearing({
      openEar: (_, listener) => {
        say = listener;
        return { queuedBytes: 0, audio: () => {}, finalize: () => {}, finish: () => {}, close: () => {} };
      },
      faults: { 'empty-start': 500 },
      marks: [],
      onPlayed: (fault) => told.push(fault),
      finishing: () => {},
      guarded: (work) => work(),
      duringTurn: (_, pass) => pass(),
      whenFinalsAreOut: (work) => work(),
    });
    const ear = hearing.open({ sampleRate: 8_000, language: undefined }, (message) =>
      told.push('turn' in message ? `${message.type} ${message.turn} to ${message.end}` : message.type),
    );
    ear.audio(new Uint8Array(17_600));
    await settle();
    say({ type: 'final', turn: 0, text: 'a', start: 1, end: 1.1 });
    ear.audio(new Uint8Array(17_600));
    await settle();
    expect(told).toEqual(['empty-start', 'no_match 0 to 0.5', 'empty-start', 'no_match 1 to 1', 'final 2 to 1.1']);
  });

  it('invents text for turns without words with invented-text', async () => {
    const told: string[] = [];
    let say: (message: EarMessage) => void = () => {};
    const hearing = new Hearing({
      openEar: (_, listener) => {
        say = listener;
        return { queuedBytes: 0, audio: () => {}, finalize: () => {}, finish: () => {}, close: () => {} };
      },
      faults: { 'invented-text': true, 'empty-start': 1_000 },
      marks: [],
      onPlayed: () => {},
      finishing: () => {},
      guarded: (work) => work(),
      duringTurn: (_, pass) => pass(),
      whenFinalsAreOut: (work) => work(),
    });
    const ear = hearing.open({ sampleRate: 8_000, language: undefined }, (message) =>
      told.push(message.type === 'final' ? `${message.text} ${message.start} to ${message.end}` : message.type),
    );
    ear.audio(new Uint8Array(16_000));
    await settle();
    say({ type: 'final', turn: 0, text: 'hello', start: 1, end: 1.1 });
    say({ type: 'no_match', turn: 1, start: 2, end: 3 });
    expect(told).toEqual(['Thank you. 0 to 1', 'hello 1 to 1.1', 'Subtitles by the Amara.org community 2 to 3']);
  });

  it.each<[string, [number, number][], string[]]>([
    ['a file without words', [], ['Thank you. 0 to 10']],
    [
      'pauses of two seconds',
      [
        [3, 4],
        [5, 7],
      ],
      ['Thank you. 0.5 to 2.5', 'word 3 to 4', 'word 5 to 7', 'Subtitles by the Amara.org community 7.5 to 9.5'],
    ],
    ['no shorter pauses', [[1, 9]], ['word 1 to 9']],
  ])('treats %s as planned with invented-text', (_, spoken, seen) => {
    const turns = spoken.map(([start, end]) => ({ text: 'word', start, end, words: [], confidence: 1 }));
    const all = withInventedTurns(turns, 10);
    expect(all.map(({ text, start, end }) => `${text} ${start} to ${end}`)).toEqual(seen);
    for (const { text, words } of all) {
      if (text !== 'word') expect(words.map(({ word }) => word).join(' ')).toBe(text);
    }
  });

  it.each(['late-finals=2s', 'late-final-after-next'])('loses no final at the end with %s', async (fault) => {
    for (const end of ['finish', 'bye']) {
      const performance = await new Performance([fault]).connect();
      await performance.speak(1);
      await performance.say(end);
      await performance.pass(2_000);
      const texts = performance.seen.map((line) => line.replace(/^\d+ /, ''));
      const last = end === 'finish' ? ['finished', 'close 1000 done'] : ['close -'];
      expect(texts.slice(-last.length - 1)).toEqual(['final "0-8000" 0-1 word at 0', ...last]);
    }
  });

  it('delays a final also from a turn without interims with late-final-after-next', async () => {
    const performance = await new Performance(['late-final-after-next'], 0.1).connect();
    await performance.speak(0.3);
    const finals = performance.seen.filter((line) => line.includes('final'));
    expect(finals).toEqual(['100 final "0-800" 0-0.1 word at 0', '200 final "800-1600" 0.1-0.2 word at 0.1']);
  });

  it('reaches a position exactly at its sample, at any rate and cut, and leaves no ear open', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(8_000, 16_000, 22_050, 24_000, 44_100, 48_000),
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 1, max: 30_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (sampleRate, positionMs, frameBytes, part) => {
          const heard = { bytes: 0, ears: 2 };
          const hearing = new Hearing({
            openEar: () => ({
              queuedBytes: 0,
              audio: ({ length }) => {
                heard.bytes += length;
              },
              finalize: () => {},
              finish: () => {},
              close: () => {
                heard.ears--;
              },
            }),
            faults: {},
            marks: [{ seconds: positionMs / 1_000, deafens: true, reached: () => {} }],
            onPlayed: () => {},
            finishing: () => {},
            guarded: (work) => work(),
            duringTurn: (_, pass) => pass(),
            whenFinalsAreOut: (work) => work(),
          });
          const expected = 2 * Math.ceil((positionMs * sampleRate) / 1_000);
          const open = () => hearing.open({ sampleRate, language: undefined }, () => {});
          // A part of it with another ear: some providers open one anew in mid-connection.
          open().audio(new Uint8Array(2 * Math.floor((part * expected) / 2)));
          const ear = open();
          const frame = new Uint8Array(frameBytes);
          for (let sent = 0; sent < expected + 100; sent += frameBytes) ear.audio(frame);
          hearing.close();
          expect(heard).toEqual({ bytes: expected, ears: 0 });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('accepts nothing more after it failed or fell silent, and closes once', async () => {
    const performance = await perform(['close-after=1s:1000', 'error-after=3s'], 1);
    const { length } = performance.seen;
    await performance.say('bye');
    await performance.pass(5_000);
    expect(performance.seen.length).toBe(length);
  });

  it('resets the connection ten minutes after it froze', async () => {
    const performance = await perform(['freeze-after=100ms'], 0.2);
    await performance.pass(599_000);
    expect(performance.seen.at(-1)).toMatch(/freeze$/);
    await performance.pass(1_000);
    expect(performance.seen.at(-1)).toMatch(/drop$/);
  });

  it.each(['latency=1h', 'late-finals=1h', 'late-final-after-next'])(
    'delays 4,096 messages with %s, and then resets the connection',
    async (fault) => {
      const performance = await new Performance([fault.replace('1h', '60m')]).connect();
      await performance.say(`flood ${fault === 'latency=1h' ? 4_094 : 4_096}`);
      expect(performance.seen.filter((line) => line.endsWith('drop'))).toEqual([]);
      await performance.say('flood 1');
      expect(performance.seen.filter((line) => line.endsWith('drop'))).toEqual(['0 drop']);
      expect(timersOf(performance.clock)).toBe(0);
    },
  );

  it('leaves out faults below frames where the network has no bytes', async () => {
    const performance = await new Performance(['tiny-fragments', 'invalid-utf8', 'deflate-bomb']).connect({
      raw: false,
    });
    expect(performance.seen).toEqual(['0 hello', '0 ready']);
  });

  it('closes with 1011 when it throws, and reports it', async () => {
    const performance = await new Performance([]).connect();
    await performance.say('oops');
    expect(performance.seen.at(-1)).toBe('0 close 1011 fault of the simulator');
    expect(performance.faults).toEqual([new Error('a fault of the tiny provider')]);
  });

  it('counts its ids and connections from one, the same in each run', async () => {
    const runs = await Promise.all([perform([]), perform([])]);
    for (const { connection } of runs) connection.gone(1006);
    expect(runs[0]?.stories).toEqual(['#1 GET /listen: heard 2.0 s, said 10 messages (finals: 2), lost']);
    expect(runs[0]?.stories).toEqual(runs[1]?.stories);
  });
});

/** Times of halves and tenths lose their binary dust. */
const rounded = (lines: string[]): string[] =>
  lines.map((line) => line.replace(/\d+\.\d{6,}/g, (number) => String(+Number(number).toFixed(6))));
