// How faults are asked for: by name and value, refused with a sentence that says what is accepted.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAULTS, readFaults } from '../../../../src/vendors/simulation/faults.ts';
import { tinyProvider } from './tiny-provider.ts';

describe('a fault', () => {
  it.each([
    ['hang=1', 'The fault hang takes no value; "1" was given.'],
    ['refuse', 'The fault refuse takes an HTTP status from 400 to 599; nothing was given.'],
    ['refuse=302', 'The fault refuse takes an HTTP status from 400 to 599; "302" was given.'],
    ['empty-finals=0', 'The fault empty-finals takes a number from 1 to 1000000; "0" was given.'],
    ['latency=5', 'The fault latency takes a duration of at most an hour, such as 250ms or 5s; "5" was given.'],
    ['latency=61m', 'The fault latency takes a duration of at most an hour, such as 250ms or 5s; "61m" was given.'],
    [
      'close-after=5s:1005',
      'The fault close-after takes seconds of audio heard on the connection, such as 250ms or 5s, and a close code that may be sent, such as 5s:1008; "5s:1005" was given.',
    ],
    ['drop-after', /^The fault drop-after takes seconds of audio .*; nothing was given\.$/],
    ['toString', /^There is no fault "toString"\. Accepted are: refuse, .*, latency, shout, volume\.$/],
  ])('%s is refused with a sentence that says what is accepted', (fault, sentence) => {
    expect(() => readFaults([fault], tinyProvider.quirks)).toThrow(sentence);
  });

  it('given twice is refused', () => {
    expect(() => readFaults(['mute', 'mute'], {})).toThrow('The fault "mute" is given twice.');
  });

  it('may be a quirk of the simulator, with a value or without', () => {
    const { quirks } = readFaults(['shout', 'volume=a=b'], tinyProvider.quirks);
    expect([...quirks]).toEqual([
      ['shout', ''],
      ['volume', 'a=b'],
    ]);
  });

  it('needs a description, and a test in faults.test.ts', () => {
    const source = readFileSync(new URL('./faults.test.ts', import.meta.url), 'utf8');
    for (const [name, { about }] of Object.entries(FAULTS)) {
      expect(about).toMatch(/^\S.{10,110}[^.]$/);
      expect(source, `${name} is not tested here`).toMatch(new RegExp(`\\['${name}(?:=|')|'${name}'`));
    }
  });
});
