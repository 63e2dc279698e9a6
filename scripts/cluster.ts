// `npm run cluster`: a gateway of three nodes on this machine. A sentence is streamed to one, and the node that holds the
// connection to the provider is killed in the middle of it; the sentence arrives whole. Nothing is left behind.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';
import type { ServerEvent } from '../src/api/listen-events.ts';
import {
  SENTENCE,
  SENTENCE_ENCODING,
  SENTENCE_MIDDLE_SECONDS,
  SENTENCE_RATE,
  sentenceAudio,
} from '../src/cli/demo/sentence.ts';
import { PrivateNats } from '../src/cli/serve/private-nats.ts';
import { call } from '../src/cli/shared/live-client.ts';
import { systemClock } from '../src/runtime/telemetry/clock.ts';
import { createLogger } from '../src/runtime/telemetry/log.ts';
import { ClusterProcess } from './cluster-node.ts';

const MODEL = 'deepgram/nova-3';
const SHOW_MS_MAX = 60_000;
/** For the test: as fast as the recogniser can follow. */
const pace = process.argv.includes('--fast') ? 2 : 1;

const closers: (() => unknown)[] = [];
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => interruption.abort(new Error(`ended by ${name}.`)));
}
const timer = setTimeout(() => interruption.abort(new Error('it took too long.')), SHOW_MS_MAX);
timer.unref();

try {
  await ensureBuilt(fileURLToPath(new URL('..', import.meta.url)));
  await show();
} catch (error) {
  console.error(`\n  The cluster did not show what it is for: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
  for (const close of closers.reverse()) await close();
}

async function show(): Promise<void> {
  line('');
  line('  A cluster: three nodes, one gateway. One of them is killed in the middle of a sentence.');
  line('');
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-cluster-'));
  closers.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const nats = await PrivateNats.start({
    directory: join(directory, 'nats'),
    clock: systemClock,
    logger: createLogger('silent'),
    onGivenUp: () => interruption.abort(new Error('nats-server ended again and again.')),
  });
  closers.push(() => nats.stop());
  row('nats', nats.url, 'what the nodes speak over');
  const provider = await start('provider', ['simulate', 'deepgram', '--ear', 'dictation'], {});
  row('provider', provider.url, 'a simulated Deepgram that hears with the embedded recogniser');

  const common = {
    VOXGATE_NATS: nats.url,
    VOXGATE_NATS_USER: nats.user,
    VOXGATE_NATS_PASSWORD: nats.password,
    VOXGATE_SECRET: randomBytes(32).toString('base64url'),
    VOXGATE_PORT: '0',
    VOXGATE_DEEPGRAM_URL: provider.url,
    DEEPGRAM_API_KEY: 'simulated',
  };
  const node = (name: string, roles: string) =>
    start(name, ['serve'], {
      ...common,
      VOXGATE_NODE_ID: name,
      VOXGATE_ROLES: roles,
      VOXGATE_DATA_DIRECTORY: join(directory, name),
    });
  const front = await node('front', 'edge,accounts');
  row(front.name, front.url, `edge and accounts: clients, keys, money (process ${front.pid})`);
  const upstreams = await Promise.all(['left', 'right'].map((name) => node(name, 'upstream')));
  for (const each of upstreams) row(each.name, each.url, `upstream: connections to providers (process ${each.pid})`);
  const key = readFileSync(join(directory, 'front', 'first-key'), 'utf8').trim();
  await sayTheSentence(front.url, key, upstreams);
}

async function start(name: string, args: readonly string[], env: Record<string, string>): Promise<ClusterProcess> {
  const started = await ClusterProcess.start(name, args, env);
  closers.push(() => started.end('SIGTERM'));
  return started;
}

async function sayTheSentence(url: string, key: string, upstreams: readonly ClusterProcess[]): Promise<void> {
  line('');
  row('said', SENTENCE);
  line('');
  const startedAt = performance.now();
  const event = (who: string, what: string) =>
    line(`  ${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${who.padEnd(10)}  ${what}`);
  const events: ServerEvent[] = [];
  let death: Promise<ClusterProcess> | undefined;
  const kill = async () => {
    const legs = await Promise.all(upstreams.map((each) => each.legs()));
    const victim = upstreams[legs.findIndex((count) => count > 0)];
    if (victim === undefined) throw new Error('no upstream node holds a connection.');
    await victim.end('SIGKILL');
    event('kill -9', `${victim.name}, which holds the connection to the provider`);
    return victim;
  };
  await call({
    url,
    key,
    model: MODEL,
    audio: sentenceAudio(),
    encoding: SENTENCE_ENCODING,
    sampleRate: SENTENCE_RATE,
    pace,
    signal: interruption.signal,
    onEvent: (heard) => {
      events.push(heard);
      const [who, words] = rowOf(heard);
      if (words !== undefined) event(who, words);
    },
    onSent: (seconds) => {
      if (death !== undefined || seconds < SENTENCE_MIDDLE_SECONDS) return;
      death = kill();
      death.catch((error) => interruption.abort(error));
    },
  });
  const victim = await death;
  const finals = events.flatMap((each) => (each.type === 'transcript' && each.is_final ? [each.text] : []));
  if (victim === undefined || events.at(-1)?.type !== 'session_ended') throw new Error('the session was cut off.');
  if (wordsOf(finals.join(' ')) !== wordsOf(SENTENCE)) throw new Error(`"${finals.join(' ')}" arrived.`);
  const other = upstreams.find((each) => each !== victim) as ClusterProcess;
  line('');
  line(`  Every word is in the final, once and in order: ${other.name} took over from ${victim.name}.`);
  line('');
}

/** Without marks: the second connection may set others. */
function wordsOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z ]/g, '');
}

/** What is worth a line of an event, and under which name. */
function rowOf(event: ServerEvent): [string, string | undefined] {
  if (event.type === 'session_started') return ['session', event.session_id];
  if (event.type === 'transcript') return [event.is_final ? 'final' : 'interim', event.text];
  if (event.type === 'session_ended') return ['end', `${event.audio_seconds.toFixed(1)} s of audio`];
  if (event.type === 'warning') return ['warning', event.message];
  if (event.type === 'error') return ['error', event.error.message];
  return [event.type, undefined];
}

function row(name: string, first: string, second = ''): void {
  line(`  ${name.padEnd(10)}  ${first.padEnd(26)}  ${second}`.trimEnd());
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}
