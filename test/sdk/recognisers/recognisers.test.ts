// Servers of one's own with real recognisers in them, through a whole gateway: what they hear reaches the client as they said it, and
// no spoken word is lost or comes twice when one of them is killed in the middle of a word.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Sample, samples } from '../../fakes/processes/live-gateway.ts';
import { missingPackages } from './recogniser-process.ts';
import {
  type Answer,
  askVosk,
  askWhisper,
  CLOUD,
  LOCAL,
  MOONSHINE,
  PRICES,
  Recognisers,
  SPHINX,
  WHISPER,
} from './recognisers-rig.ts';

const FILE = 'thermostat.wav';
const SAMPLE = samples().find(({ file }) => file === 'commands.wav') as Sample & { turns: string[] };
/** In the middle of `timer`, the second turn, and of `some`, the fourth. */
const [TIMER, SOME] = [4.2, 10.7];
const TIMES_SECONDS = 0.02;

const isHere = missingPackages.length === 0;
if (!isHere) console.log(`No real recogniser is tried: ${missingPackages.join(', ')} of Debian are missing.`);

type Session = Awaited<ReturnType<Recognisers['listen']>>;

// They need packages of Debian.
describe.skipIf(!isHere)('real recognisers', { timeout: 180_000 }, () => {
  let recognisers: Recognisers;
  let spoken: Required<Answer>['words'];
  beforeAll(async () => {
    recognisers = await Recognisers.start();
    spoken = (await recognisers.transcribe(LOCAL)).words ?? [];
    expect(spoken.map(({ word }) => word).join(' ')).toBe(SAMPLE.text);
  }, 180_000);

  /** Each spoken word is in one final, turns are told once, and each second is paid once, to the model that heard it. */
  function expectWhole({ client, code, finals, usage, cost }: Session): void {
    expect(code).toBe(1000);
    expect(finals.map(({ turn }) => turn)).toEqual(SAMPLE.turns.map((_, turn) => turn));
    const inFinals = spoken.map(({ start, end }) => {
      const middle = (start + end) / 2;
      return finals.filter((final) => final.start <= middle && middle < final.end).length;
    });
    expect(inFinals, JSON.stringify({ finals, spoken })).toEqual(spoken.map(() => 1));
    expect(client.of('discontinuity')).toEqual([]);
    const seconds = usage.reduce((sum, each) => sum + each.seconds, 0);
    expect(seconds).toBeCloseTo(SAMPLE.seconds, 2);
    for (const { model, seconds: its, cost_usd } of usage) {
      if (model in PRICES) expect(Number(cost_usd)).toBeCloseTo((its / 60) * (PRICES[model] as number), 5);
    }
    expect(cost).toBeCloseTo(
      usage.reduce((sum, each) => sum + Number(each.cost_usd), 0),
      6,
    );
  }

  const textsOf = ({ finals }: Session, model: string) =>
    finals.filter((each) => each.model === model).map(({ text }) => text);
  /** In the right words: it knows them all. */
  function expectRestByLocal(session: Session): void {
    const before = session.finals.findIndex(({ model }) => model === LOCAL);
    expect(before).toBeGreaterThan(0);
    expect(textsOf(session, LOCAL)).toEqual(SAMPLE.turns.slice(before));
  }

  const portOf = (model: string) => recognisers.processes[model]?.port as number;
  const heardOf = (model: string, from = 0) => recognisers.processes[model]?.heard.slice(from) ?? [];

  it('keeps a Vosk server’s own turns and times in a live session', async () => {
    const session = await recognisers.listen([SPHINX]);
    const turns = await askVosk(portOf(SPHINX));
    expectWhole(session);
    expect(textsOf(session, SPHINX)).toEqual(turns.map(({ text }) => text));
    const words = turns.flatMap(({ result }) => result);
    const heard = session.finals.flatMap((final) => final.words ?? []);
    expect(heard.map(({ word }) => word)).toEqual(words.map(({ word }) => word));
    for (const [index, { start }] of heard.entries()) {
      expect(Math.abs(start - (words[index]?.start ?? 0))).toBeLessThan(TIMES_SECONDS);
    }
  });

  it('files have the text that they say when they are asked themselves, at the price of each second', async () => {
    const { seconds } = samples().find(({ file }) => file === FILE) as Sample;
    const sphinx = await recognisers.transcribe(SPHINX, FILE);
    expect(sphinx.text).toBe((await askVosk(portOf(SPHINX), FILE)).map(({ text }) => text).join(' '));
    const moonshine = await recognisers.transcribe(MOONSHINE, FILE);
    expect(moonshine.text).toBe(await askWhisper(portOf(MOONSHINE), FILE));
    expect(moonshine.text).toMatch(/temperature/);
    const whisper = await recognisers.transcribe(WHISPER, FILE);
    expect(whisper.text).toBe(moonshine.text);
    for (const { usage } of [sphinx, moonshine, whisper]) expect(usage?.seconds).toBeCloseTo(seconds, 2);
  });

  it('makes each utterance of a Whisper server a final', async () => {
    const before = heardOf(MOONSHINE).length;
    const session = await recognisers.listen([MOONSHINE]);
    expectWhole(session);
    // Utterances are asked about side by side, and answered in any order.
    expect(textsOf(session, MOONSHINE).toSorted()).toEqual(heardOf(MOONSHINE, before).toSorted());
  });

  it('continues with the embedded one when a Vosk server is killed mid-word', async () => {
    const session = await recognisers.listen([SPHINX, LOCAL], [[SPHINX, TIMER]]);
    await recognisers.bringBack(SPHINX);
    expectWhole(session);
    expect(session.failovers).toEqual([[SPHINX, LOCAL]]);
    expectRestByLocal(session);
  });

  it('continues with a Vosk server when the cloud is lost mid-word', async () => {
    const before = heardOf(SPHINX).length;
    const session = await recognisers.listen([CLOUD, SPHINX], [[CLOUD, TIMER]]);
    expectWhole(session);
    expect(session.failovers).toEqual([[CLOUD, SPHINX]]);
    expect(textsOf(session, CLOUD)).toEqual(SAMPLE.turns.slice(0, 1));
    expect(textsOf(session, SPHINX)).toEqual(heardOf(SPHINX, before));
  });

  it('continues after a Vosk and a Whisper server are killed mid-word, with the embedded one', async () => {
    const session = await recognisers.listen(
      [SPHINX, MOONSHINE, LOCAL],
      [
        [SPHINX, TIMER],
        [MOONSHINE, SOME],
      ],
    );
    expectWhole(session);
    expect(session.failovers).toEqual([
      [SPHINX, MOONSHINE],
      [MOONSHINE, LOCAL],
    ]);
    expect(session.usage.map(({ model }) => model)).toEqual([SPHINX, MOONSHINE, LOCAL]);
    expectRestByLocal(session);
  });
});
