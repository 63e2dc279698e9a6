// What rules make of a text: where words begin and end in several scripts, which case the result has, and what leaving out leaves.
import { describe, expect, it } from 'vitest';
import { type Replacement, readReplacements } from '../../src/api/replacements.ts';
import { Replacer } from '../../src/replacements/replaced.ts';

const said = (text: string, rules: readonly (string | Replacement)[], language?: string) => {
  const read = rules.flatMap((rule) => (typeof rule === 'string' ? (readReplacements([rule]) ?? []) : [rule]));
  return new Replacer({ rules: read }).replaced({ text, language })?.text ?? text;
};
const literal = (from: string, to: string): Replacement => ({ from, to, match: 'literal' });

describe('a rule for whole words', () => {
  it.each([
    ['Welcome to vox gate.', 'vox gate:Voxgate', 'Welcome to Voxgate.'],
    ['VOX  GATE\nis here', 'vox gate:Voxgate', 'Voxgate\nis here'],
    ['voxgates and devoxgate', 'voxgate:Voxgate', 'voxgates and devoxgate'],
    ['Jon’s and Jon, (Jon) "Jon"', 'jon:John', 'John’s and John, (John) "John"'],
    ["I can't say can", 'can:may', "I can't say may"],
    ["don't, don’t", "don't:do not", 'do not, do not'],
    ["it's 's", 's:X', "it's 'X"],
    ["Parlez de l'avion, d’avion", 'avion:jet', "Parlez de l'jet, d’jet"],
    ["I'm fine, m", 'm:metre', "I'm fine, metre"],
    ['3 and 3.5 and 1,300 at 10:30, 3.', '3:three', 'three and 3.5 and 1,300 at 10:30, three.'],
    ['At 10:30 sharp', '10\\:30:half past ten', 'At half past ten sharp'],
    ['an e-mail', 'e-mail:email', 'an email'],
    ['an e - mail', 'e-mail:email', 'an e - mail'],
    ['We use C++ and c+', 'c++:C plus plus', 'We use C plus plus and c+'],
    ['AT&T, R & D', 'at&t:AT&T Inc.', 'AT&T Inc., R & D'],
    ['Die Straße, die Strasse', 'straße:Gasse', 'Die Gasse, die Strasse'],
    ['Zoe\u0308 und Zo\u00eb', 'zo\u00eb:Zoey', 'Zoey und Zoey'],
    ['Österreich österreichisch', 'österreich:Austria', 'Austria österreichisch'],
    ['Привет мир', 'мир:world', 'Привет world'],
    ['我们在东京都见面', '东京:Tokyo', '我们在Tokyo都见面'],
    ['トーキョーで会う', 'トーキョー:東京', '東京で会う'],
    ['ฉันรักกรุงเทพ', 'กรุงเทพ:Bangkok', 'ฉันรักBangkok'],
    ['🙂 gate 🙂', '🙂:smile', 'smile gate smile'],
  ])('makes of %j with %j', (text, rule, expected) => {
    expect(said(text, [rule])).toBe(expected);
  });

  it('takes the longest of several, from left to right, and reads its own text never again', () => {
    const rules = ['new york:NYC', 'new york city:the city', 'york city:York', 'nyc:loop'];
    expect(said('New York City, new york, York City', rules)).toBe('The city, NYC, York');
    expect(said('a b', ['a:b', 'b:a'])).toBe('b a');
  });

  it('takes the first of two for the same words', () => {
    expect(said('vox', ['VOX:one', 'vox:two'])).toBe('one');
  });
});

describe('the case of what is written', () => {
  it.each([
    ['Gonna go, gonna go, GONNA GO', 'gonna:going to', 'Going to go, going to go, GOING TO GO'],
    ['Vox gate VOX GATE', 'vox gate:VoxGate', 'VoxGate VoxGate'],
    ['GPT four and gpt four', 'gpt four:gpt-4', 'gpt-4 and gpt-4'],
    ['I and i', 'i:we', 'We and we'],
    ['Okay', 'okay:10 percent', '10 percent'],
    ['Äh gut, ÄH', 'äh:öhm', 'Öhm gut, ÖHM'],
  ])('makes of %j with %j', (text, rule, expected) => {
    expect(said(text, [rule])).toBe(expected);
  });
});

describe('a literal rule', () => {
  it('finds its characters anywhere, in their own case', () => {
    expect(said('voxgates Voxgate', [literal('voxg', 'Voxg')])).toBe('Voxgates Voxgate');
    expect(said('hello comma world', [literal(' comma', ',')])).toBe('hello, world');
    expect(said('a[BLANK_AUDIO]b', [literal('[BLANK_AUDIO]', '')])).toBe('ab');
  });

  it('and one for words: the longer one counts', () => {
    expect(said('vox gate', [literal('vox', 'X'), 'vox gate:Voxgate'])).toBe('Voxgate');
    expect(said('vox gates', [literal('vox gat', 'X'), 'vox:Y'])).toBe('Xes');
  });
});

describe('an empty replacement', () => {
  it.each([
    ['Um, so we go.', 'so we go.'],
    ['So um we go.', 'So we go.'],
    ['We, um, go.', 'We, go.'],
    ['We go, um.', 'We go.'],
    ['We go um', 'We go'],
    ['Um um, um so', 'so'],
    ['Um.', ''],
    ['um', ''],
    ['Umbrella', 'Umbrella'],
    ['Yes. Um, no.', 'Yes. no.'],
  ])('leaves of %j', (text, expected) => {
    expect(said(text, ['um:'])).toBe(expected);
  });
});

describe('a rule of a language', () => {
  const rules: Replacement[] = [
    { from: 'gift', to: 'Poison', language: 'de' },
    { from: 'gift', to: 'present' },
    { from: 'rink', to: 'Ring', language: 'de-CH' },
  ];
  const of = (reported: string | undefined, language?: string) =>
    new Replacer({ rules, language }).replaced({ text: 'gift rink', language: reported })?.text;

  it('holds for that language, as the model reports it or the request names it', () => {
    expect(of('de')).toBe('Poison rink');
    expect(of('DE-AT')).toBe('Poison rink');
    expect(of('en', 'de')).toBe('present rink');
    expect(of(undefined, 'de-CH')).toBe('Poison Ring');
    expect(of('de', 'de-CH')).toBe('Poison Ring');
    expect(of(undefined, 'auto')).toBe('present rink');
    expect(of(undefined)).toBe('present rink');
  });

  it('is compiled for any number of languages without keeping them all', () => {
    const replacer = new Replacer({ rules });
    for (let index = 0; index < 100; index++)
      expect(replacer.replaced({ text: 'gift', language: `d${String.fromCharCode(97 + (index % 26))}` })).toBeDefined();
  });
});
