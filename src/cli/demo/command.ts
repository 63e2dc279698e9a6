// `voxgate demo`: a provider dies in the middle of a sentence, and the client gets the sentence. Gateway, providers and client
// are the real ones, in this process; nothing has to be installed, configured or paid.
import { constants } from 'node:os';
import type { ServerEvent } from '../../api/listen-events.ts';
import { isSlug, providerOf } from '../../api/slug.ts';
import { providers } from '../../vendors/index.ts';
import { hearsUtterances } from '../../vendors/live-turns.ts';
import { FaultRefused, readFaults } from '../../vendors/simulation/faults.ts';
import { simulators } from '../../vendors/simulators.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { didYouMean } from '../shared/nearest.ts';
import { CommandError, EXIT, print } from '../shared/output.ts';
import { call } from './client.ts';
import { type DemoGateway, type DemoProviders, withDemoGateway } from './demo-gateway.ts';
import { DemoScreen } from './screen.ts';
import { SENTENCE, SENTENCE_ENCODING, SENTENCE_MIDDLE_SECONDS, SENTENCE_RATE, sentenceAudio } from './sentence.ts';
import { problemOf } from './verdict.ts';

const usage = `Usage: voxgate demo [--from SLUG] [--to SLUG] [--fault F]… [--json]

Shows a failover. A gateway is started on a free port with two simulated
providers, a sentence is sent at the pace of speech, and in the middle of it the
first provider is killed. You see what the client sees, as it happens. It takes
about ten seconds and leaves nothing behind; the exit code is 0 if the whole
sentence arrived after one failover.

  --from   the first model; deepgram/nova-3 when absent
  --to     its fallback, of another provider;
           assemblyai/universal-streaming-english when absent
  --fault  a fault of the first provider instead of the kill, such as
           stall-after=2s; voxgate simulate PROVIDER --list lists them
  --json   prints only the client's events, as JSON lines`;

const FROM = 'deepgram/nova-3';
const TO = 'assemblyai/universal-streaming-english';
/** With what comes before and after, a demo ends within 30 s. */
const PLAY_MS_MAX = 26_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Plan extends DemoProviders {
  from: string;
  to: string;
}

/** Hears of the play as it goes. */
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

/** The checked wishes. Throws a CommandError that says what is accepted. */
function planOf(from: string, to: string, faults: readonly string[]): Plan {
  const first = simulatorOf(from, '--from');
  const fallback = simulatorOf(to, '--to');
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
function play(plan: Plan, signal: AbortSignal, audience: Audience): Promise<string | undefined> {
  return withDemoGateway(plan, async (stage) => {
    const events: ServerEvent[] = [];
    await sayTheSentence(plan, stage, signal, {
      ...audience,
      show: (event, line) => {
        events.push(event);
        audience.show(event, line);
      },
    });
    return problemOf(events, SENTENCE);
  });
}

async function sayTheSentence(
  { from, to, faults }: Plan,
  { gateway, killFirst }: DemoGateway,
  signal: AbortSignal,
  { show, died }: Audience,
): Promise<void> {
  let death = faults.length === 0 ? undefined : Promise.resolve();
  await call({
    ...gateway,
    model: from,
    fallback: to,
    audio: sentenceAudio(),
    encoding: SENTENCE_ENCODING,
    sampleRate: SENTENCE_RATE,
    signal,
    onEvent: show,
    onSent: (seconds) => {
      if (death !== undefined || seconds < SENTENCE_MIDDLE_SECONDS) return;
      died();
      death = killFirst();
    },
  });
  await death;
}

/** A signal to the process, a reader that goes away and too long a time end the play, so that it can be taken down in order. */
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
