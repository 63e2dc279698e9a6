// `voxgate simulate PROVIDER`: a simulated provider on a port of this machine until a signal ends it, with faults on demand.
import { readFileSync } from 'node:fs';
import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { faultOf, type ValueFault } from '../api/accepted.ts';
import { listenFailure } from '../runtime/address-failure.ts';
import type { ProviderSimulator } from '../vendors/kit/simulation.ts';
import { NumberedOptions, ScriptOptions } from '../vendors/loopback/options.ts';
import { type EarSource, numberedEar, scriptEar } from '../vendors/simulation/ears.ts';
import { FAULTS, FaultRefused } from '../vendors/simulation/faults.ts';
import { SimulatorServer } from '../vendors/simulation/server.ts';
import { simulators as builtIn } from '../vendors/simulators.ts';
import { type Command, readArguments } from './shared/command.ts';
import { openLocalRecogniser } from './shared/local-recogniser.ts';
import { CommandError, EXIT, print, printTable, tell, UsageError } from './shared/output.ts';
import { didYouMean, requireReadable } from './shared/values.ts';

const usage = `Usage: voxgate simulate PROVIDER [--port N] [--host H] [--fault F]…
                        [--ear script|numbered|local|dictation]
                        [--params JSON | --script FILE]
       voxgate simulate PROVIDER --list

Speaks the wire protocol of a provider on a port of this machine: you can try a
gateway, or the provider's own client, without an account, and test failover.
--fault may be repeated.

  --list    lists the faults, and those of the provider
  --fault   a fault, or fault=value: --fault close-after=5s
  --port    a free port when absent
  --host    127.0.0.1 when absent
  --ear     what recognises the audio: local (the embedded recogniser, English
            and French commands), dictation (any English), script (answers with
            a script), numbered (reports which samples of numbered audio
            arrived); script if there is a script, else local
  --params  for script and numbered: a JSON object, as provider_params of
            loopback/script and loopback/numbered
  --script  the same, from a file`;

const EARS = ['local', 'dictation', 'script', 'numbered'] as const;

/** The command of this build. */
export const simulate: Command = simulateCommand(builtIn, untilSignalled);

/** The command for these simulators; it serves until `ended` resolves. */
export function simulateCommand(simulators: readonly ProviderSimulator[], ended: () => Promise<void>): Command {
  return {
    usage,
    async run(args) {
      const { values, positionals } = readArguments({ usage, operandsMax: Number.POSITIVE_INFINITY }, args, {
        port: { type: 'string' },
        host: { type: 'string' },
        fault: { type: 'string', multiple: true },
        ear: { type: 'string' },
        params: { type: 'string' },
        script: { type: 'string' },
        list: { type: 'boolean' },
      });
      const simulator = simulatorOf(simulators, positionals);
      if (values.list) {
        list(simulator);
        return EXIT.ok;
      }
      const port = portOf(values.port);
      const { ear, close } = openEars(values);
      try {
        const server = await serve({ simulator, ear, port, faults: values.fault ?? [], host: values.host });
        // Listen for signals before saying that it runs.
        const over = ended();
        print(welcome(simulator.provider, server.url));
        await over;
        await server.close();
      } finally {
        await close();
      }
      return EXIT.ok;
    },
  };
}

function simulatorOf(simulators: readonly ProviderSimulator[], names: readonly string[]): ProviderSimulator {
  const simulator = simulators.find(({ provider }) => provider === names[0]);
  if (simulator !== undefined && names.length === 1) return simulator;
  const known = simulators.map(({ provider }) => provider);
  const [name = ''] = names;
  const wrong = names.length === 1 ? `There is no simulator of "${name}".${didYouMean(name, known)} ` : '';
  throw new UsageError(`${wrong}${wrong === '' ? 'name' : 'Name'} one provider of: ${known.join(', ')}.`, usage);
}

function list({ provider, quirks }: ProviderSimulator): void {
  const faults = Object.entries(FAULTS).map(([name, { form, about }]) => [withValue(name, form.text), about] as const);
  printTable([['FAULT', 'WHAT HAPPENS'], ...faults]);
  const own = Object.entries(quirks);
  if (own.length > 0) printTable([['', ''], [`OF ${provider.toUpperCase()}`, ''], ...own]);
  print('\n<audio> counts what was heard on the connection; it and <duration> are written as 250ms, 5s or 2m.');
}

/** `close-after=<audio>[:<code>]`, `huge-message[=<audio>]`, `mute`. */
function withValue(name: string, value: string): string {
  if (value === '') return name;
  return value.startsWith('[') ? `${name}[=${value.slice(1)}` : `${name}=${value}`;
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (port > 65_535) throw new CommandError('--port takes a number from 0 to 65535.', EXIT.usage);
  return port;
}

interface EarOptions {
  ear?: string | undefined;
  params?: string | undefined;
  script?: string | undefined;
}

function openEars({ ear, params, script }: EarOptions): { ear: EarSource; close(): Promise<void> } {
  const isScripted = params !== undefined || script !== undefined;
  const name = EARS.find((each) => each === (ear ?? (isScripted ? 'script' : 'local')));
  if (name === undefined) throw new CommandError(`--ear takes one of: ${EARS.join(', ')}.`, EXIT.usage);
  if (params !== undefined && script !== undefined)
    throw new CommandError('give --params or --script, not both.', EXIT.usage);
  if (name === 'local' || name === 'dictation') {
    if (isScripted) throw new CommandError(`the ear "${name}" has no script: choose script or numbered.`, EXIT.usage);
    return openLocalRecogniser(process.env, name === 'local' ? 'commands' : 'dictation');
  }
  const json = script === undefined ? parsed(params ?? '{}', '--params') : parsed(read(script), script);
  const close = async () => {};
  if (name === 'script') return { ear: scriptEar(checked(ScriptOptions, json)), close };
  const { turn_seconds: turnSeconds, interim_seconds: interimSeconds } = checked(NumberedOptions, json);
  return {
    ear: numberedEar({
      ...(turnSeconds === undefined ? {} : { turnSeconds }),
      ...(interimSeconds === undefined ? {} : { interimSeconds }),
    }),
    close,
  };
}

function read(file: string): string {
  requireReadable(file, 'a file with JSON');
  return readFileSync(file, 'utf8');
}

function parsed(text: string, from: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${from} is no JSON.`, EXIT.usage);
  }
}

function checked<Schema extends TSchema>(schema: Schema, json: unknown): Static<Schema> {
  if (Value.Check(schema, json)) return json;
  const { kind, path, accepts } = faultOf(schema, json) as ValueFault;
  const place = path.length === 0 ? 'the script' : `"${path.join('.')}" of the script`;
  const what =
    kind === 'unknown'
      ? `is unknown; there are ${accepts}`
      : `${kind === 'missing' ? 'is missing' : 'cannot be used'}: give ${accepts}`;
  throw new CommandError(`${place} ${what}.`, EXIT.usage);
}

interface ServeOptions {
  simulator: ProviderSimulator;
  ear: EarSource;
  port: number;
  faults: readonly string[];
  host: string | undefined;
}

async function serve({ simulator, ear, port, faults, host }: ServeOptions): Promise<SimulatorServer> {
  try {
    return await SimulatorServer.start({
      simulator,
      ear,
      faults,
      port,
      ...(host === undefined ? {} : { host }),
      onEnd: tell,
      onFault: (error) =>
        tell(`voxgate: the simulator failed: ${error instanceof Error ? error.stack : String(error)}`),
    });
  } catch (error) {
    if (error instanceof FaultRefused) throw new CommandError(error.message, EXIT.usage);
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || port === undefined) throw error;
    throw new CommandError(listenFailure(host ?? '127.0.0.1', port, code, { host: '--host', port: '--port' }));
  }
}

function welcome(provider: string, url: string): string {
  const prefix = provider.toUpperCase();
  return `${provider} is simulated on ${url}

Point a gateway at it:

  VOXGATE_${prefix}_URL=${url} ${prefix}_API_KEY=simulated npm start
`;
}

/** Resolves with the first signal to end. */
function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}
