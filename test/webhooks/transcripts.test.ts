// What is gathered of live sessions: only where it is wanted, within a bound, and without making a session wait.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { WebhookSeal } from '../../src/webhooks/seal.ts';
import { Transcripts } from '../../src/webhooks/transcripts.ts';
import { SECRET } from './rig.ts';

function open(wants: () => Promise<boolean>) {
  const clock = new SimulatedClock();
  const seal = new WebhookSeal({ secret: SECRET });
  const kept: [session: string, transcript: unknown][] = [];
  const faults: unknown[] = [];
  let lookups = 0;
  const transcripts = new Transcripts({
    ...{ seal, clock },
    store: {
      wantsTranscripts: () => {
        lookups++;
        return wants();
      },
      async keepWebhookTranscript(organisationId, id, sealed) {
        if (id === 'ses_lost') throw new Error('The store does not answer.');
        kept.push([id, JSON.parse(seal.open({ organisationId, id }, sealed) as string)]);
      },
    },
    onFault: (error) => faults.push(error),
  });
  const gather = (session = 'ses_1') => transcripts.gather('org_1', session);
  return { clock, kept, faults, gather, lookups: () => lookups };
}

describe('a session', () => {
  it('ends in order where its transcript cannot be kept', async () => {
    const { gather, faults } = open(async () => true);
    await gather('ses_lost')!.end();
    expect(faults).toMatchObject([{ message: 'The store does not answer.' }]);
  });

  it('has its turns kept at its end, those too that came before it was known that they are wanted', async () => {
    let answer: (wants: boolean) => void = () => {};
    const { gather, kept } = open(() => new Promise((resolve) => (answer = resolve)));
    const gathered = gather()!;
    gathered.turn({ start: 0, end: 1 }, 'one');
    answer(true);
    gathered.turn({ start: 1, end: 2 }, '');
    gathered.turn({ start: 2, end: 3 }, 'two');
    await gathered.end();
    const turns = [
      { start: 0, end: 1, text: 'one' },
      { start: 2, end: 3, text: 'two' },
    ];
    expect(kept).toEqual([['ses_1', { turns, isCut: false }]]);
  });

  it('is not gathered where it is not wanted, and asks again after half a minute', async () => {
    let wants = false;
    const { gather, kept, lookups, clock } = open(async () => wants);
    const first = gather();
    first?.turn({ start: 0, end: 1 }, 'one');
    await first?.end();
    expect([gather(), gather(), kept.length, lookups()]).toEqual([undefined, undefined, 0, 1]);
    wants = true;
    clock.increment(30_000);
    gather();
    await Promise.resolve();
    await Promise.resolve();
    expect([gather() === undefined, lookups()]).toEqual([false, 2]);
  });

  it('is not gathered while the database does not answer', async () => {
    const { gather, kept, faults } = open(() => Promise.reject(new Error('away')));
    const gathered = gather();
    gathered?.turn({ start: 0, end: 1 }, 'one');
    await gathered?.end();
    expect([gather(), kept.length, faults.length]).toEqual([undefined, 0, 1]);
  });

  it('is cut after 120,000 bytes', async () => {
    const { gather, kept } = open(async () => true);
    const gathered = gather();
    for (let turn = 0; turn < 100; turn++) gathered?.turn({ start: turn, end: turn + 1 }, 'ü'.repeat(1_000));
    await gathered?.end();
    const [[, transcript]] = kept as [[string, { turns: unknown[]; isCut: boolean }]];
    expect([transcript.turns.length, transcript.isCut]).toEqual([58, true]);
    expect(Buffer.byteLength(JSON.stringify(transcript))).toBeLessThan(130_000);
  });
});
