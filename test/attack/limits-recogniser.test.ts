// One organisation that pours recordings into the embedded recogniser, beside another that says a word: in which order they are done.
import { expect, it } from 'vitest';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { type Customer, startAttacked } from './rig/rig.ts';

const DUMPS = 16;
const COMMANDS = { model: 'local/commands-en' };

async function attack(): Promise<{ attacker: Customer; honest: Customer }> {
  const attacked = await startAttacked({ env: { VOXGATE_RECOGNISER_WORKERS: '1' } });
  return { attacker: await attacked.customer(1_000_000n), honest: await attacked.customer(1_000_000n) };
}

const word = Buffer.from(sampleAudio('yes.wav').pcm);
/** Seven seconds: so much is taken of each at once, whoever works on it when. */
const recording = Buffer.from(sampleAudio('commands.wav').pcm.subarray(0, 7 * 32_000));

it('transcribes a word before the dumps of another organisation', async () => {
  const { attacker, honest } = await attack();
  const done: string[] = [];
  const speaker = honest.connect(COMMANDS);
  await speaker.event('session_started');
  speaker.send(word);
  speaker.send({ type: 'finalize' });
  await speaker.event('transcript', ({ is_final }) => is_final);
  const dumps = Array.from({ length: DUMPS }, () => attacker.connect(COMMANDS));
  await Promise.all(dumps.map((dump) => dump.event('session_started')));
  const begun = Promise.race(dumps.map((dump) => dump.event('speech_started')));
  for (const [number, dump] of dumps.entries()) {
    dump.send(recording);
    dump.send({ type: 'close' });
    void dump.close().then(() => done.push(`dump ${number}`));
  }
  await begun;
  speaker.send(word);
  speaker.send({ type: 'close' });
  await speaker.close();
  expect([speaker.finals.length, done]).toEqual([2, []]);
});

it('transcribes a short file before the longer ones of another organisation', async () => {
  const { attacker, honest } = await attack();
  const send = async (customer: Customer, file: Buffer<ArrayBuffer>) => {
    const form = new FormData();
    form.append('model', COMMANDS.model);
    form.append('file', new Blob([file], { type: 'audio/l16;rate=16000' }), 'a.raw');
    const answer = await customer.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    return (await answer.json()) as { text: string };
  };
  const done: number[] = [];
  for (let count = 0; count < DUMPS; count++) {
    void send(attacker, recording).then(
      () => done.push(count),
      () => {},
    );
  }
  const { text } = await send(honest, word);
  expect([text, done]).toEqual(['yes', []]);
});
