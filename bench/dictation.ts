// What `local/dictation-en` makes of everyday sentences, in several synthetic voices, clean, in noise, over a telephone line and very
// quiet: words that are wrong, and the time it takes. None of the sentences was used to tune anything. `engine alone` is the same model
// given the whole audio at once: the gateway has to be as good. Needs espeak-ng; takes the voices of flite where that is installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { editDistance } from '../src/api/slug.ts';
import { PcmConverter } from '../src/audio/resampler.ts';
import { builtInModel, configOf } from '../src/recogniser/dictation/model.ts';
import { loadSherpa } from '../src/recogniser/dictation/sherpa.ts';
import { SAMPLE_RATE } from '../src/recogniser/protocol.ts';
import { Recogniser } from '../src/recogniser/recogniser.ts';
import { speechModelsFolder } from '../src/runtime/telemetry/worker-file.ts';
import { seeded } from '../test/fakes/random.ts';
import { Ear, finalsOf, queryFor } from '../test/recogniser/listening.ts';

const SENTENCES = [
  'We should leave early because the traffic is terrible on Mondays.',
  'Can I pay for the tickets with my credit card?',
  'The new printer in the office does not work with my laptop.',
  'My grandmother bakes the best apple pie in the whole town.',
  'Please turn down the music, the baby is sleeping.',
  'The package was delivered to the wrong address last Tuesday.',
  'How many people are coming to the party on Saturday night?',
  'I forgot my umbrella at the restaurant where we had lunch.',
  'The river was so high that the bridge had to be closed.',
  'She wants to study medicine at a university in Canada.',
  'Do you have this shirt in a smaller size?',
  'Our team won the game in the last three minutes.',
  'The manager will call you back before the end of the day.',
  'It was raining when we arrived, but later the sun came out.',
  'I would like a table for four people near the window.',
  'There was nothing interesting on television, so I went to bed.',
  'He broke his arm when he fell from the ladder.',
  'Could you explain once more how the machine works?',
  'The price of gas has gone up again this month.',
  'Take the second door on the right and wait there.',
  'I have been waiting for an answer for almost three weeks.',
  'They are building a new hospital next to the airport.',
  'Thank you very much for your help.',
  'That sounds good to me.',
];

type Samples = Int16Array<ArrayBuffer>;
type Voice = (text: string, file: string) => void;

const espeak =
  (voice: string): Voice =>
  (text, file) => {
    execFileSync('espeak-ng', ['-v', voice, '-s', '150', '-w', file, text]);
  };
const flite =
  (voice: string): Voice =>
  (text, file) => {
    execFileSync('flite', ['-voice', voice, '-t', text, '-o', file]);
  };
const hasFlite = spawnSync('flite', ['--version']).error === undefined;
const VOICES: Readonly<Record<string, Voice>> = {
  'espeak-ng en-us': espeak('en-us'),
  'espeak-ng en-gb': espeak('en-gb'),
  'espeak-ng en-us, female': espeak('en-us+f3'),
  'espeak-ng Scottish': espeak('en-gb-scotland'),
  ...(hasFlite ? { 'flite slt': flite('slt'), 'flite rms': flite('rms'), 'flite awb': flite('awb') } : {}),
};

const random = seeded(2_711);
const through = (samples: Samples, from: number, to: number): Samples => {
  const converter = new PcmConverter(from, to);
  return Int16Array.from([...converter.push(samples), ...converter.end()]);
};
const NOISE = 650;
const CONDITIONS: Readonly<Record<string, (samples: Samples) => Samples>> = {
  clean: (samples) => samples,
  'white noise': (samples) => samples.map((sample) => clipped(sample + NOISE * Math.sqrt(3) * (2 * random.next() - 1))),
  '8 kHz': (samples) => through(through(samples, SAMPLE_RATE, 8_000), 8_000, SAMPLE_RATE),
  'at 3 % of the loudness': (samples) => samples.map((sample) => Math.round(sample * 0.03)),
};

const clipped = (sample: number): number => Math.max(-32_768, Math.min(32_767, Math.round(sample)));

/** Words alone, spelt in one way. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/(\w)-(\w)/g, '$1$2')
    .replace(/[^a-z0-9' ]/g, '')
    .replace(/\b3\b/g, 'three')
    .split(' ')
    .filter(Boolean);

/** @param scratch a folder for files */
export async function benchDictation(scratch: string): Promise<void> {
  const recogniser = new Recogniser({
    ...{ workers: 1, streamsMax: 1, queueBytesMax: 16 * 1024 ** 2, dictationStreamsMax: 4, dictationSlots: 1 },
  });
  const alone = engineAlone();
  const query = queryFor('local/dictation-en');
  const ours = async (samples: Samples) => {
    const messages = await new Ear(recogniser, query).listen(new Uint8Array(samples.buffer));
    return finalsOf(messages)
      .map(({ text }) => text)
      .join(' ');
  };
  await ours(new Int16Array(SAMPLE_RATE));
  console.log('| condition | voice | words wrong | engine alone | real-time factor |');
  console.log('|---|---|---|---|---|');
  for (const [condition, change] of Object.entries(CONDITIONS)) {
    const all = { words: 0, wrong: 0, wrongAlone: 0, ms: 0, seconds: 0 };
    for (const [name, voice] of Object.entries(VOICES)) {
      const sums = { words: 0, wrong: 0, wrongAlone: 0, ms: 0, seconds: 0 };
      for (const text of SENTENCES) {
        const samples = change(spoken(voice, text, scratch));
        const said = wordsOf(text);
        const sinceMs = performance.now();
        const heard = await ours(samples);
        sums.ms += performance.now() - sinceMs;
        sums.seconds += samples.length / SAMPLE_RATE;
        sums.words += said.length;
        sums.wrong += editDistance(wordsOf(heard), said);
        sums.wrongAlone += editDistance(wordsOf(alone(samples)), said);
      }
      print(condition, name, sums);
      for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += sums[key];
    }
    print(condition, '**all**', all);
  }
  await recogniser.close();
}

function print(
  condition: string,
  voice: string,
  { words, wrong, wrongAlone, ms, seconds }: Record<'words' | 'wrong' | 'wrongAlone' | 'ms' | 'seconds', number>,
): void {
  const share = (count: number) => `${((100 * count) / words).toFixed(1)} %`;
  console.log(
    `| ${condition} | ${voice} | ${share(wrong)} | ${share(wrongAlone)} | ${(ms / 1000 / seconds).toFixed(3)} |`,
  );
}

function engineAlone(): (samples: Samples) => string {
  const { OfflineRecognizer } = loadSherpa();
  const { model } = builtInModel(fileURLToPath(speechModelsFolder()));
  const recognizer = new OfflineRecognizer(configOf(model));
  return (samples) => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({
      sampleRate: SAMPLE_RATE,
      samples: Float32Array.from(samples, (sample) => sample / 32_768),
    });
    recognizer.decode(stream);
    return recognizer.getResult(stream).text;
  };
}

/** As a synthesiser speaks it, with the silence of a person who presses a button before and behind. */
function spoken(voice: Voice, text: string, scratch: string): Samples {
  const file = join(scratch, 'sentence.wav');
  voice(text, file);
  const bytes = readFileSync(file);
  const data = bytes.indexOf('data') + 8;
  const rate = bytes.readUInt32LE(24);
  const samples = Int16Array.from({ length: Math.floor((bytes.length - data) / 2) }, (_, at) =>
    bytes.readInt16LE(data + 2 * at),
  );
  const converted = rate === SAMPLE_RATE ? samples : through(samples, rate, SAMPLE_RATE);
  const padded = new Int16Array(converted.length + 1.2 * SAMPLE_RATE);
  padded.set(converted, 0.4 * SAMPLE_RATE);
  return padded;
}
