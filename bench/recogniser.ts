// `npm run bench -- recogniser [phrases] [seed]`: dictation first (dictation.ts), then what the embedded recogniser makes of phrases drawn by chance from its own
// grammars, in the voices of a synthesiser that the models understand best and in its ordinary ones. Needs espeak-ng.
// `engine alone` is the package as it comes, given the same audio and grammar: the gateway should not hear less.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editDistance } from '../src/api/slug.ts';
import { PcmConverter } from '../src/audio/resampler.ts';
import { type Expansion, readGrammar } from '../src/recogniser/grammar/grammar.ts';
import { LANGUAGES } from '../src/recogniser/grammar/languages.ts';
import type { Decoder } from '../src/recogniser/grammar/soundswallower.ts';
import { type Language, SAMPLE_RATE } from '../src/recogniser/protocol.ts';
import { BUILT_IN_GRAMMARS } from '../src/vendors/local/grammars.ts';
import { type Random, seeded } from '../test/fakes/random.ts';
import { Bench, finalsOf, queryFor } from '../test/recogniser/listening.ts';
import { benchDictation } from './dictation.ts';

/** By language: the voices that grammars and settings were tuned with, and others. */
const VOICES: Readonly<Record<Language, { clearest: string[]; ordinary: string[] }>> = {
  en: {
    clearest: ['en-us+klatt', 'en-us+klatt4', 'en-us+f5', 'en-us+f2'],
    ordinary: ['en-us', 'en-us+m3', 'en-us+f3', 'en-us+Annie', 'en-gb', 'en-gb-scotland'],
  },
  fr: { clearest: ['fr+klatt', 'fr+klatt4', 'fr+f5'], ordinary: ['fr', 'fr+m3', 'fr+f3', 'fr-be'] },
};
const WORDS_PER_MINUTE = 150;
/** A wrong turn that is as sure as this would be taken for a right one. */
const SURE = 0.5;

const [phrases = 40, seed = 2_711] = process.argv.slice(2).map(Number);
const bench = await Bench.start();
const scratch = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));

await benchDictation(scratch);
console.log(`\n${phrases} phrases a model, seed ${seed}, ${WORDS_PER_MINUTE} words a minute\n`);
console.log('| model | voice | phrases right | words right | no words | wrong and sure | engine alone |');
console.log('|---|---|---|---|---|---|---|');
for (const [model, grammar] of BUILT_IN_GRAMMARS) {
  const language = model.slice(-2) as Language;
  const texts = drawn(grammar, phrases, seeded(seed));
  const engine = await engineAlone(language, grammar);
  for (const [kind, voices] of Object.entries(VOICES[language])) {
    for (const voice of voices) {
      const row = await measured(model, voice, texts, engine);
      console.log(`| \`local/${model}\` | ${voice} (${kind}) | ${row.join(' | ')} |`);
    }
  }
}
rmSync(scratch, { recursive: true });

/** Different phrases that the grammar allows. */
function drawn(grammar: string, count: number, random: Random): string[] {
  const whole = readGrammar(grammar);
  const found = new Set<string>();
  while (found.size < count) found.add(wordsOf(whole, random).join(' '));
  return [...found];
}

function wordsOf(expansion: Expansion, random: Random): string[] {
  switch (expansion.kind) {
    case 'word':
      return [expansion.word];
    case 'rule':
      throw new TypeError(`${expansion.name} was not written out.`);
    case 'sequence':
      return expansion.parts.flatMap((part) => wordsOf(part, random));
    case 'alternatives':
      return wordsOf(random.pick(expansion.parts), random);
    case 'times': {
      const [least, most] = { '?': [0, 1], '*': [0, 5], '+': [1, 6] }[expansion.times] as [number, number];
      return Array.from({ length: random.integer(least, most) }, () => wordsOf(expansion.part, random)).flat();
    }
  }
}

async function measured(
  model: string,
  voice: string,
  texts: string[],
  engine: EngineAlone | undefined,
): Promise<string[]> {
  const sums = { right: 0, words: 0, wrongWords: 0, nothing: 0, sure: 0, alone: 0 };
  for (const text of texts) {
    const samples = spoken(voice, text);
    const finals = finalsOf(await bench.hear(queryFor(model), [new Uint8Array(samples.buffer)]));
    const heard = finals.map((final) => final.text).join(' ');
    sums.right += Number(heard === text);
    sums.nothing += Number(finals.length === 0);
    sums.sure += Number(heard !== text && finals.some(({ confidence }) => (confidence ?? 0) >= SURE));
    sums.words += text.split(' ').length;
    sums.wrongWords += editDistance(heard.split(' '), text.split(' '));
    sums.alone += Number((await engine?.(samples)) === text);
  }
  const share = (part: number, whole = texts.length) => `${Math.round((100 * part) / whole)} %`;
  const { right, words, wrongWords, nothing, sure, alone } = sums;
  const wordsRight = share(Math.max(0, words - wrongWords), words);
  return [share(right), wordsRight, share(nothing), share(sure), engine === undefined ? '' : share(alone)];
}

/** As the synthesiser says it, at the recogniser's rate. */
function spoken(voice: string, text: string): Int16Array<ArrayBuffer> {
  const file = join(scratch, 'phrase.wav');
  // Letters one by one, as people say them.
  const said = text.replace(/\bt v\b/, 'T V');
  execFileSync('espeak-ng', ['-v', voice, '-s', String(WORDS_PER_MINUTE), '-w', file, said]);
  const bytes = readFileSync(file);
  const [headBytes, rate] = [44, bytes.readUInt32LE(24)];
  const length = Math.floor((bytes.length - headBytes) / 2);
  const samples = Int16Array.from({ length }, (_, at) => bytes.readInt16LE(headBytes + 2 * at));
  const converter = new PcmConverter(rate, SAMPLE_RATE);
  return Int16Array.from([...converter.push(samples), ...converter.end()]);
}

type EngineAlone = (samples: Int16Array) => Promise<string>;

/**
 * The package's own decoder with its own settings: no turns, no levelling, and nothing too unsure to be said. Undefined where
 * its dictionary lacks words of the grammar.
 */
async function engineAlone(language: Language, grammar: string): Promise<EngineAlone | undefined> {
  const { directory } = LANGUAGES[language];
  const decoder: Decoder = new bench.module.Decoder({ loglevel: 'FATAL', samprate: SAMPLE_RATE, hmm: directory });
  await decoder.initialize();
  try {
    decoder.set_grammar(grammar);
  } catch {
    return undefined;
  }
  return async (samples) => {
    await decoder.reinitialize_audio();
    decoder.start();
    decoder.process_audio(
      Float32Array.from(samples, (sample) => sample / 32_768),
      false,
      true,
    );
    decoder.stop();
    return decoder.get_text();
  };
}
