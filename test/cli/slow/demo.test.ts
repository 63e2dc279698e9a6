// `voxgate demo` as its viewers meet it: the real program, its events and rows, and that nothing of it is left behind.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { SENTENCE } from '../../../src/cli/demo/sentence.ts';
import { startVoxgate, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

type EventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

const FROM = 'deepgram/nova-3';
const TO = 'local/dictation-en';

const of = <Type extends ServerEvent['type']>(events: readonly ServerEvent[], type: Type) =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/** Runs `demo --json` to its end, and checks what is true of every good run. */
async function events(...args: string[]): Promise<ServerEvent[]> {
  const { code, output, errors } = await voxgateProcess(['demo', '--json', ...args]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  const heard = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ServerEvent);
  expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, index) => index + 1));
  expect([heard[0]?.type, heard.at(-1)?.type]).toEqual(['session_started', 'session_ended']);
  return heard;
}

// One after the other: each of them runs two speech models.
describe('voxgate demo', () => {
  it('kills the first provider, and the client sees one failover, one final and the whole sentence', async () => {
    const heard = await events();
    const failovers = of(heard, 'failover');
    expect(failovers).toMatchObject([{ from: FROM, to: TO, replayed_seconds: expect.closeTo(3.2, 0) }]);
    const transcripts = of(heard, 'transcript');
    expect(transcripts.filter((event) => event.is_final)).toMatchObject([{ text: SENTENCE, model: TO, turn: 0 }]);
    // It died in the middle: some of the sentence had been heard by the first, and not all.
    const before = transcripts.filter(({ model }) => model === FROM);
    expect(before.length).toBeGreaterThan(0);
    expect(before.map(({ text }) => text)).not.toContain(SENTENCE);
    expect(heard.at(-1)).toMatchObject({ reason: 'client_closed', usage: [{ model: TO }] });
  });

  it('does so with other models', async () => {
    const [from, to] = ['openai/gpt-4o-transcribe', 'deepgram/flux-general-en'];
    const heard = await events('--from', from, '--to', to);
    expect(of(heard, 'failover')).toMatchObject([{ from, to }]);
    expect(of(heard, 'transcript').filter((event) => event.is_final)).toMatchObject([
      { text: SENTENCE, model: to, turn: 0 },
    ]);
  });

  it('prints a readable story in 80 columns, without escape codes outside a terminal', async () => {
    const directory = temporaryDirectory();
    const { code, output, errors } = await voxgateProcess(['demo'], { TMPDIR: directory });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain('\x1b');
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThan(80);
    const story = [
      / {2}said +Had he married a more amiable woman/,
      / s {2}deepgram {4}Had he/,
      / s {2}deepgram {4}the first provider dies here\n/,
      / s {2}failover {4}deepgram\/nova-3 → local\/dictation-en\n +\w+, took \d+ ms, 3\.\d s of audio/,
      / s {2}final {7}Had he married a more amiable woman/,
      / s {2}bill {8}\$0\.00: local\/dictation-en 7\.\d s\n/,
      / {2}Every word that was said is in the final/,
    ];
    const places = story.map((part) => output.search(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('shows a fault of the first provider in place of its death', async () => {
    const { code, output } = await voxgateProcess(['demo', '--fault', 'close-after=1s:1008']);
    expect(code).toBe(0);
    expect(output).toContain('close-after=1s:1008');
    expect(output).not.toContain('dies here');
    expect(output).toMatch(/failover[\s\S]*final[\s\S]*Every word/);
  });

  it('ends with 1 and a sentence when the fault gave no reason for a failover', async () => {
    const { code, errors } = await voxgateProcess(['demo', '--json', '--fault', 'duplicate-finals']);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/^voxgate: there was no failover.*\n$/),
    });
  });

  it('takes everything down on SIGINT', async () => {
    const directory = temporaryDirectory();
    const child = startVoxgate(['demo', '--json'], { TMPDIR: directory });
    const ended = once(child, 'close');
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    await once(createInterface({ input: child.stdout }), 'line');
    expect(readdirSync(directory)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(errors).toBe('voxgate: ended by SIGINT.\n');
    expect(readdirSync(directory)).toEqual([]);
  });
});
