// `voxgate demo`: a provider dies in the middle of a sentence, and the client gets the sentence. Gateway, providers and client
// are the real ones, in this process; nothing has to be installed, configured or paid.

import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerEvent } from '../../api/listen-events.ts';
import { isSlug, providerOf } from '../../api/slug.ts';
import { startGateway } from '../../node/gateway.ts';
import { createLogger } from '../../runtime/telemetry/log.ts';
import { providers } from '../../vendors/index.ts';
import { hearsUtterances } from '../../vendors/kit/live-turns.ts';
import type { ProviderSimulator } from '../../vendors/kit/simulation.ts';
import { FaultRefused, readFaults } from '../../vendors/simulation/faults.ts';
import { SimulatorServer } from '../../vendors/simulation/server.ts';
import { simulators } from '../../vendors/simulators.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { call } from '../shared/live-client.ts';
import { openLocalRecogniser } from '../shared/local-recogniser.ts';
import { CommandError, EXIT, print, tell } from '../shared/output.ts';
import { loadSettings } from '../shared/settings.ts';
import { didYouMean } from '../shared/values.ts';
import { DemoScreen } from './screen.ts';
import { SENTENCE, SENTENCE_ENCODING, SENTENCE_MIDDLE_SECONDS, SENTENCE_RATE, sentenceAudio } from './sentence.ts';

const usage = `Usage: voxgate demo [--from SLUG] [--to SLUG] [--fault F]… [--json]

Shows a failover. A gateway is started on a free port with a simulated provider,
a sentence is sent at the pace of speech, and in the middle of it the provider
is killed. The embedded model finishes the sentence. You see what the client
sees, as it happens. It takes about ten seconds and leaves nothing behind; the
exit code is 0 if the whole sentence arrived after one failover.

  --from   the first model; deepgram/nova-3 when absent
  --to     its fallback, of another provider, which is simulated as well;
           local/dictation-en when absent, which is not
  --fault  a fault of the first provider instead of the kill, such as
           stall-after=2s; voxgate simulate PROVIDER --list lists them
  --json   prints only the client's events, as JSON lines`;

const FROM = 'deepgram/nova-3';
const TO = 'local/dictation-en';
/** With what comes before and after, a demo ends within 30 s. */
const PLAY_MS_MAX = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Plan {
  from: string;
  to: string;
  /** Simulators of two different providers. The embedded model needs none. */
  first: ProviderSimulator;
  fallback: ProviderSimulator | undefined;
  /** Of the first, in the form of `--fault`. */
  faults: readonly string[];
}

interface Audience {
  show(event: ServerEvent, line: string): void;
  died(): void;
}

export const demo: Command = {
  usage,
  async run(args) {
    const { values } = readArguments({ usage }, args, {
      from: { type: 'string' },
      to: { type: 'string' },
      fault: { type: 'string', multiple: true },
      json: { type: 'boolean' },
    });
    const plan = planOf(values.from ?? FROM, values.to ?? TO, values.fault ?? []);
    const interruption = watchForInterruption();
    try {
      if (values.json) await playAsJson(plan, interruption.signal);
      else await playOnScreen(plan, interruption.signal);
    } finally {
      interruption.stop();
    }
    return EXIT.ok;
  },
};

/** The checked arguments. Throws a CommandError that says what is accepted. */
function planOf(from: string, to: string, faults: readonly string[]): Plan {
  const first = simulatorOf(from, '--from');
  const fallback = to === TO ? undefined : simulatorOf(to, '--to');
  if (first === fallback) {
    throw new CommandError(
      `${from} and ${to} are of one provider, and would die together: name models of two.`,
      EXIT.usage,
    );
  }
  try {
    readFaults(faults, first.quirks);
  } catch (error) {
    if (error instanceof FaultRefused) throw new CommandError(error.message, EXIT.usage);
    throw error;
  }
  return { from, to, first, fallback, faults };
}

function simulatorOf(slug: string, option: string) {
  const simulator = simulators.find(({ provider }) => isSlug(slug) && provider === providerOf(slug));
  const models = simulators.flatMap(({ provider }) => liveModelsOf(provider));
  if (simulator === undefined || !models.includes(slug))
    throw new CommandError(
      `${option} takes a model that streams and has a simulator, and "${slug}" is not one.${didYouMean(slug, models) || ` Send one such as ${FROM}.`} voxgate models --mode live lists them.`,
      EXIT.usage,
    );
  return simulator;
}

/** Those that hear a stream: the others have nothing to show before a sentence is over. */
function liveModelsOf(name: string): string[] {
  const models = providers.find((provider) => provider.name === name)?.models ?? [];
  return models.filter((model) => model.modes.includes('live') && !hearsUtterances(model)).map(({ id }) => id);
}

async function playAsJson(plan: Plan, signal: AbortSignal): Promise<void> {
  const problem = await play(plan, signal, { show: (_event, line) => print(line), died: () => {} });
  if (problem !== undefined) throw new CommandError(problem);
}

async function playOnScreen(plan: Plan, signal: AbortSignal): Promise<void> {
  const { from, to, faults } = plan;
  const screen = new DemoScreen({ output: process.stdout, env: process.env, now: () => performance.now() });
  screen.open({ said: SENTENCE, model: from, fallback: to, faults });
  try {
    const problem = await play(plan, signal, {
      show: (event) => screen.show(event),
      died: () => screen.died(from),
    });
    if (problem !== undefined) throw new CommandError(problem);
  } finally {
    screen.close();
  }
  const fate = faults.length === 0 ? 'died in the middle of them' : 'failed them';
  screen.verdict(`Every word that was said is in the final, once and in order, though the first provider ${fate}.`);
}

/** Plays to the end. Resolves with what went wrong, if anything did. */
function play(plan: Plan, signal: AbortSignal, { show, died }: Audience): Promise<string | undefined> {
  const { from, to, faults } = plan;
  return withDemoGateway(plan, async ({ gateway, killFirst }) => {
    const events: ServerEvent[] = [];
    let death = faults.length === 0 ? undefined : Promise.resolve();
    await call({
      ...gateway,
      model: from,
      fallback: to,
      audio: sentenceAudio(),
      encoding: SENTENCE_ENCODING,
      sampleRate: SENTENCE_RATE,
      signal,
      onEvent: (event, line) => {
        events.push(event);
        show(event, line);
      },
      onSent: (seconds) => {
        if (death !== undefined || seconds < SENTENCE_MIDDLE_SECONDS) return;
        died();
        death = killFirst();
      },
    });
    await death;
    return problemOf(events, SENTENCE);
  });
}

/** A signal to the process, a closed standard output and the time limit end the play, so that everything is removed in order. */
function watchForInterruption(): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const end = (why: string, code: number) => controller.abort(new CommandError(why, code));
  const signalled = (name: (typeof SIGNALS)[number]) => end(`ended by ${name}.`, 128 + constants.signals[name]);
  const unread = () => end('standard output was closed.', EXIT.failed);
  const timer = setTimeout(
    () => end(`the session did not end within ${PLAY_MS_MAX / 1000} s.`, EXIT.failed),
    PLAY_MS_MAX,
  );
  for (const name of SIGNALS) process.once(name, signalled);
  // Stays: the error of a last write comes after the end.
  process.stdout.on('error', unread);
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      for (const name of SIGNALS) process.off(name, signalled);
    },
  };
}

interface DemoGateway {
  gateway: { url: string; key: string };
  /** The first provider dies: its connections are cut and its port is closed. Resolves when nothing is left of it. */
  killFirst(): Promise<void>;
}

/**
 * Starts a gateway with simulated providers on free ports of this machine, with real recognition, and removes everything afterwards.
 * Resolves with the result of the play.
 */
async function withDemoGateway<Result>(
  { first, fallback, faults }: Plan,
  play: (demo: DemoGateway) => Promise<Result>,
): Promise<Result> {
  const closers: (() => unknown)[] = [];
  try {
    const directory = mkdtempSync(join(tmpdir(), 'voxgate-'));
    closers.push(() => rmSync(directory, { recursive: true, force: true }));
    const ears = openLocalRecogniser({}, 'dictation');
    closers.push(() => ears.close());
    await ears.warmUp();

    const { ear } = ears;
    const dying = await SimulatorServer.start({ simulator: first, ear, faults, onFault: reportFault });
    closers.push(() => dying.close());
    const living = fallback && (await SimulatorServer.start({ simulator: fallback, ear, onFault: reportFault }));
    closers.push(() => living?.close());

    const config = loadSettings({
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_LOG_LEVEL: 'silent',
      ...pointedAt(first, dying),
      ...(fallback && living ? pointedAt(fallback, living) : {}),
    });
    const gateway = await startGateway({ config, logger: createLogger('silent') });
    closers.push(() => {
      gateway.stop();
      return gateway.ended;
    });
    const key = gateway.firstKey?.secret as string;
    return await play({ gateway: { url: gateway.url, key }, killFirst: () => dying.close() });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** The settings that send a provider's sessions to its simulator. */
function pointedAt({ provider }: ProviderSimulator, { url }: SimulatorServer): Record<string, string> {
  const name = provider.toUpperCase();
  return { [`VOXGATE_${name}_URL`]: url, [`${name}_API_KEY`]: 'simulated' };
}

function reportFault(error: unknown): void {
  tell(`voxgate: ${error instanceof Error ? error.message : String(error)}`);
}

/** What went wrong, as a sentence; undefined when `said` arrived whole with exactly one failover. */
export function problemOf(events: readonly ServerEvent[], said: string): string | undefined {
  const error = events.find((event) => event.type === 'error');
  if (error !== undefined) return `the session failed: ${error.error.message}`;
  const end = events.at(-1);
  if (end?.type !== 'session_ended') return 'the session was cut off before its end.';
  const failovers = events.filter((event) => event.type === 'failover').length;
  if (failovers === 0) return 'there was no failover: what the first provider did gave no reason for one.';
  if (failovers > 1) return `there were ${failovers} failovers, and one was wanted.`;
  const final = finalText(events);
  if (wordsOf(final) === wordsOf(said)) return undefined;
  return `"${said}" was said, and ${final === '' ? 'no final came' : `"${final}" arrived`}.`;
}

/** The finals of all turns. */
function finalText(events: readonly ServerEvent[]): string {
  return events.flatMap((event) => (event.type === 'transcript' && event.is_final ? [event.text] : [])).join(' ');
}

/** Words only: models differ in capitals and punctuation. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
