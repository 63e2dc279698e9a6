// The gateways that the batch bench compares with, from the npm registry and from PyPI: installed once at an exact version, not part
// of the project's packages, and run as they come.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { endWithBench } from '../processes.ts';

const PORTKEY = '@portkey-ai/gateway@1.15.2';
const LITELLM_VERSION = '1.108.7';
/** Whatever other Python is first on the PATH: system packages provide the module venv for this one. */
const SYSTEM_PYTHON = '/usr/bin/python3';
/** LiteLLM loads for ten seconds on an idle machine. */
const START_MS_MAX = 120_000;
const PRINTED_CHARACTERS_MAX = 2_000;
/** It does not start without one. */
const LITELLM_KEY = `sk-${randomBytes(32).toString('hex')}`;

export interface Peer {
  url: string;
  pid: number;
  /** What a request needs in addition. */
  headers: Readonly<Record<string, string>>;
  stop(): void;
}

export const PEERS = {
  portkey: { package: PORTKEY, start: startPortkey },
  litellm: { package: `litellm[proxy]==${LITELLM_VERSION}`, start: startLitellm },
};

export type PeerName = keyof typeof PEERS;

async function startPortkey(root: string, providerUrl: string): Promise<Peer> {
  const home = join(root, '.cache', 'bench-peer');
  const program = join(home, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    const options = ['--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', home];
    execFileSync('npm', ['install', ...options, PORTKEY], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const port = await freePort();
  const child = spawn(process.execPath, [program, `--port=${port}`, '--headless'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${providerUrl}/v1` };
  return ready(child, `http://127.0.0.1:${port}`, '/', headers);
}

/** One worker process without a database, as the quick start of its proxy runs it. */
async function startLitellm(root: string, providerUrl: string, model: string): Promise<Peer> {
  const home = join(root, '.cache', `bench-litellm-${LITELLM_VERSION}`);
  installLitellm(home);
  const configuration = join(home, 'bench.json');
  const access = { model: `openai/${model}`, api_base: `${providerUrl}/v1`, api_key: 'bench' };
  const models = [{ model_name: model, litellm_params: access, model_info: { mode: 'audio_transcription' } }];
  // JSON is YAML.
  writeFileSync(configuration, JSON.stringify({ model_list: models, litellm_settings: { telemetry: false } }));
  const port = await freePort();
  const args = ['--config', configuration, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'];
  const child = spawn(join(home, 'bin', 'litellm'), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Its list of prices comes from the package, not from the network.
    env: {
      ...process.env,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
      LITELLM_MASTER_KEY: LITELLM_KEY,
    },
  });
  const headers = { Authorization: `Bearer ${LITELLM_KEY}` };
  return ready(child, `http://127.0.0.1:${port}`, '/health/liveliness', headers);
}

/** Into a virtual environment. Its scripts name the folder, so a broken installation is removed, not renamed. */
function installLitellm(home: string): void {
  const mark = join(home, 'installed');
  if (existsSync(mark)) return;
  rmSync(home, { recursive: true, force: true });
  const stdio: ['ignore', 'ignore', 'inherit'] = ['ignore', 'ignore', 'inherit'];
  execFileSync(SYSTEM_PYTHON, ['-m', 'venv', home], { stdio });
  const options = ['--disable-pip-version-check', 'install', '--quiet', '--only-binary', ':all:'];
  execFileSync(join(home, 'bin', 'python'), ['-m', 'pip', ...options, PEERS.litellm.package], { stdio });
  writeFileSync(`${mark}.new`, PEERS.litellm.package);
  renameSync(`${mark}.new`, mark);
}

/** When it answers on this path. */
async function ready(child: ChildProcess, url: string, path: string, headers: Peer['headers']): Promise<Peer> {
  endWithBench(child);
  let printed = '';
  child.stderr?.on('data', (text) => {
    printed = `${printed}${text}`.slice(-PRINTED_CHARACTERS_MAX);
  });
  const untilMs = performance.now() + START_MS_MAX;
  while (!(await answers(`${url}${path}`))) {
    const hasEnded = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (hasEnded) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}: ${printed}`);
    if (performance.now() > untilMs) throw new Error(`${child.spawnargs.join(' ')} did not start in time: ${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url, pid: child.pid as number, headers, stop: () => void child.kill() };
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
