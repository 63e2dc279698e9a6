// What every official client has to get right with the models of every provider: it hears every sample once, and what was said.
import { describe, expect, it } from 'vitest';
import { editDistance } from '../../../src/api/slug.ts';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { PROTOCOLS, rateOf } from '../../live/failover/protocols.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { type Driver, isTriedWith } from '../../vendors/compat/driver.ts';
import { EMBEDDED, FILE_MODELS } from '../../vendors/compat/files/models.ts';
import { type DialectRig, heardWrongly } from '../../vendors/compat/rig.ts';

const FILE_SECONDS = 1.9;
/** Of a busy machine. */
const TIMEOUT_MS = 180_000;
/** Streams of dictation that one organisation may have on two cores, less one. */
const EMBEDDED_TOGETHER = 8;

type Cell = readonly [driver: Driver, slug: string];

const groupsOf = (cells: readonly Cell[], size: number) =>
  Array.from({ length: Math.ceil(cells.length / size) }, (_, at) => ({
    group: at + 1,
    cells: cells.slice(at * size, (at + 1) * size),
  }));

const cellsOf = (drivers: readonly Driver[], of: 'live' | 'file', slugs: readonly string[]): Cell[] =>
  drivers
    .filter((driver) => driver[of] !== undefined)
    .flatMap((driver) => slugs.map((slug): Cell => [driver, slug]))
    .filter(([driver, slug]) => of === 'file' || isTriedWith(driver, slug));

async function problemsOf(cells: readonly Cell[], look: (...cell: Cell) => Promise<string[]>): Promise<string[]> {
  const heard = cells.map(async ([driver, slug]) =>
    (await look(driver, slug)).map((problem) => `${driver.client} with ${slug}: ${problem}`),
  );
  return (await Promise.all(heard)).flat();
}

interface Matrix {
  /** Clients, as it reads in a report. */
  which: string;
  drivers: readonly Driver[];
  rig: DialectRig;
  /** Sessions at a time: most of each is waiting for the pace of its provider. */
  together?: number;
}

/** Sessions and files of numbered audio, with every model. `kinds`: which of the two. */
export function samplesSuite({ which, drivers, rig, together = 16 }: Matrix, kinds = ['live', 'files']): void {
  /** Clients tell the text alone of a file. */
  async function misheard(driver: Driver, model: string): Promise<string[]> {
    const rate = rateOf([model]) ?? 24_000;
    const samples = Math.round(FILE_SECONDS * rate);
    const audio = numberedAudio(0, samples);
    const wav = Buffer.concat([wavHeader(rate, audio.byteLength), audio]);
    const { key, gateway } = rig;
    const text = await (driver.file as NonNullable<Driver['file']>)({ url: gateway.url, key, model }, wav);
    return gapsIn([{ text, end: Number.NaN, turn: 0 }], samples, rate, [model]);
  }

  describe(`every ${which}, by samples, with every model`, () => {
    const slugs = PROTOCOLS.map(({ slug }) => slug);

    const live = kinds.includes('live') ? cellsOf(drivers, 'live', slugs) : [];
    it.each(groupsOf(live, together))('live, group $group', { timeout: TIMEOUT_MS }, async ({ cells }) => {
      expect(await problemsOf(cells, (driver, slug) => heardWrongly(rig, driver, [slug]))).toEqual([]);
    });

    const files = kinds.includes('files') ? cellsOf(drivers, 'file', FILE_MODELS) : [];
    it.each(groupsOf(files, together))('files, group $group', { timeout: TIMEOUT_MS }, async ({ cells }) => {
      expect(await problemsOf(cells, misheard)).toEqual([]);
    });
  });
}

/** Speech, with the models that are in the gateway. */
export function wordsSuite({ which, drivers, rig }: Matrix): void {
  describe.each(EMBEDDED)(`every ${which}, by words, with $slug`, (model) => {
    const { bytes, pcm, sampleRate } = sampleAudio(model.file);
    const PIECE_BYTES = 6_400;

    async function heardBy(driver: Driver, of: 'live' | 'file'): Promise<string> {
      const { slug, lastWordSeconds } = model;
      const job = { url: rig.gateway.url, key: rig.key, model: slug, sampleRate, lastWordSeconds };
      if (of === 'file') return (await driver.file?.(job, bytes)) ?? '';
      const pieces = Array.from({ length: Math.ceil(pcm.byteLength / PIECE_BYTES) }, (_, at) =>
        pcm.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
      );
      const finals = (await driver.live?.(job, pieces)) ?? [];
      // An end that was asked for before the words came, on a busy machine, is answered as silence.
      const said = finals.filter((final) => final.text !== '');
      return said.map((final) => final.text).join(' ');
    }

    /** What was recognised, where too much of it is wrong. */
    async function mistaken(driver: Driver, of: 'live' | 'file'): Promise<string[]> {
      const heard = await heardBy(driver, of);
      const [said, recognised] = [wordsOf(model.text), wordsOf(heard)];
      return editDistance(recognised, said) <= model.wordErrorRateMax * said.length ? [] : [heard];
    }

    it.each(groupsOf(cellsOf(drivers, 'live', [model.slug]), EMBEDDED_TOGETHER))(
      'live, group $group',
      { timeout: TIMEOUT_MS },
      async ({ cells }) => {
        expect(await problemsOf(cells, (driver) => mistaken(driver, 'live'))).toEqual([]);
      },
    );

    it.each(groupsOf(cellsOf(drivers, 'file', [model.slug]), EMBEDDED_TOGETHER))(
      'files, group $group',
      { timeout: TIMEOUT_MS },
      async ({ cells }) => {
        expect(await problemsOf(cells, (driver) => mistaken(driver, 'file'))).toEqual([]);
      },
    );
  });
}

/** Words alone. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/[^a-z' ]/g, '')
    .split(' ')
    .filter(Boolean);
