// Makes the speech samples of the tests with a synthesiser: `npm run samples` needs espeak-ng and sox. The files
// are committed; this is how to make them again or add one. What must be heard in them is in test/recogniser.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Spoken {
  file: string;
  model: string;
  /** What is said, turn by turn. An aligned text is one turn to its model, whatever its pauses. */
  turns: string[];
  voice: string;
  wordsPerMinute?: number;
  /** Between turns. */
  pauseSeconds?: number;
  sampleRate?: number;
  /** Decibels below full scale. */
  levelDb?: number;
  /** Pink noise over it, as a part of full scale. */
  noise?: number;
}

/** The voices the models understand best; the plain ones of espeak-ng are further from a person's. */
const VOICES = { a: 'klatt', b: 'klatt4', c: 'f5', d: 'f2' } as const;
type Voice = keyof typeof VOICES;

const english = (file: string, voice: Voice, ...turns: string[]): Spoken => ({
  file,
  model: 'local/commands-en',
  turns,
  voice: `en-us+${VOICES[voice]}`,
});
const french = (file: string, voice: Voice, ...turns: string[]): Spoken => ({
  file,
  model: 'local/commands-fr',
  turns,
  voice: `fr+${VOICES[voice]}`,
});

const SPOKEN: Spoken[] = [
  english(
    'commands.wav',
    'a',
    'turn on the kitchen lights',
    'set a timer for ten minutes',
    "what's the weather tomorrow",
    'play some jazz',
    'call mom',
  ),
  english('yes.wav', 'a', 'yes'),
  english('no.wav', 'b', 'no'),
  english('number.wav', 'a', 'three hundred and sixty five'),
  english('times/time.wav', 'a', 'quarter to nine'),
  english('times/evening-time.wav', 'c', 'six thirty p.m.'),
  english('times/date.wav', 'b', 'monday the third of june'),
  english('garage.wav', 'd', 'open the garage door'),
  english('thermostat.wav', 'a', 'set the temperature to twenty one degrees'),
  english('forward.wav', 'b', 'go forward ten meters'),
  english('navigation.wav', 'd', 'navigate to the airport'),
  { ...english('lines/quiet.wav', 'a', 'turn left'), levelDb: -30 },
  { ...english('lines/noisy.wav', 'b', 'switch on the fan'), noise: 0.02 },
  { ...english('lines/telephone.wav', 'a', 'take me home'), sampleRate: 8_000 },
  { ...english('digits.wav', 'a', 'four two'), model: 'local/digits-en', wordsPerMinute: 120 },
  { ...english('more-digits.wav', 'b', 'two four six eight'), model: 'local/digits-en' },
  {
    ...english(
      'alignment.wav',
      'a',
      'the old bridge crosses the river near the village',
      'and every morning the children walk over it to school',
    ),
    model: 'local/align-en',
    pauseSeconds: 0.6,
  },
  french(
    'french/commandes.wav',
    'b',
    'allume la lumière de la cuisine',
    'réveille moi à sept heures',
    'quelle heure est il',
  ),
  french('french/oui.wav', 'a', 'oui'),
  french('french/heure.wav', 'b', 'sept heures et demie'),
  french('french/jour.wav', 'a', 'lundi le trois juin'),
  {
    ...french(
      'french/alignement.wav',
      'b',
      'le vieux pont traverse la rivière près du village',
      "et chaque matin les enfants vont à l'école",
    ),
    model: 'local/align-fr',
    pauseSeconds: 0.6,
  },
  english('lines/silence.wav', 'a'),
  { ...english('lines/noise.wav', 'a'), noise: 0.1 },
];

const AUDIO = fileURLToPath(new URL('../test/fixtures/audio/', import.meta.url));
const BEFORE_SECONDS = 0.4;
const AFTER_SECONDS = 0.8;
const scratch = mkdtempSync(join(tmpdir(), 'voxgate-samples-'));
const sox = (...args: (string | number)[]) => execFileSync('sox', ['-R', '-D', ...args.map(String)]);

/** Writes the sample and returns its row of the manifest. */
function make(spoken: Spoken): Record<string, unknown> {
  const { file, model, turns, voice, wordsPerMinute = 130, pauseSeconds = 1, levelDb = -6, noise } = spoken;
  const { sampleRate = 16_000 } = spoken;
  const format = ['-r', sampleRate, '-c', 1, '-b', 16];
  const piece = (name: string) => join(scratch, name);
  const silence = (name: string, seconds: number) => {
    sox('-n', ...format, piece(name), 'trim', 0, seconds);
    return piece(name);
  };
  const spokenTurns = turns.flatMap((text, number) => {
    execFileSync('espeak-ng', ['-v', voice, '-s', String(wordsPerMinute), '-w', piece('raw.wav'), text]);
    sox(piece('raw.wav'), ...format, piece(`${number}.wav`), 'gain', '-n', levelDb);
    return number === 0 ? [piece(`${number}.wav`)] : [silence('pause.wav', pauseSeconds), piece(`${number}.wav`)];
  });
  const clean = piece('clean.wav');
  sox(silence('before.wav', BEFORE_SECONDS), ...spokenTurns, silence('after.wav', AFTER_SECONDS), clean);
  const seconds = secondsOf(clean);
  if (noise === undefined) sox(clean, join(AUDIO, file));
  else {
    sox('-n', ...format, piece('noise.wav'), 'synth', seconds, 'pinknoise', 'vol', noise);
    sox('-m', '-v', 1, clean, '-v', 1, piece('noise.wav'), join(AUDIO, file));
  }
  return { file, model, text: turns.join(' '), turns, language: model.slice(-2), seconds, sampleRate };
}

function secondsOf(file: string): number {
  const bytes = readFileSync(file);
  return Math.round(((bytes.length - 44) / 2 / bytes.readUInt32LE(24)) * 1000) / 1000;
}

writeFileSync(join(AUDIO, 'samples.json'), `${JSON.stringify(SPOKEN.map(make), null, 2)}\n`);
rmSync(scratch, { recursive: true });
