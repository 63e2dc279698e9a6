// `voxgate transcribe FILE [--live]`: a file through a gateway as any client would send it. Without --url it starts a gateway
// of its own for as long as it takes: no server, no key and no network are needed.
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CLIENT_KEY_VARIABLE } from '../config/load.ts';
import { startGateway } from '../gateway.ts';
import { backgroundClock } from '../telemetry/clock.ts';
import { createLogger } from '../telemetry/log.ts';
import { type Command, readArguments } from './shared/command.ts';
import { CommandError, EXIT, print, tell, UsageError } from './shared/output.ts';
import { loadSettings } from './shared/settings.ts';
import { StatusLine } from './shared/status-line.ts';
import { CountedFile, FileProgress } from './speech/file-progress.ts';
import { liveTranscription, noConnection, type Target, type Wanted } from './speech/live-transcription.ts';

const usage = `Usage: voxgate transcribe FILE [--live] [--model SLUG] [--json] [--quiet] [--language TAG] [--params JSON] [--fallbacks LIST] [--url URL --key KEY]

Transcribes a WAV file. Without --url a gateway is started for this one file.

  --live      streams the file in real time over /v1/listen and shows what comes back as it comes
  --model     local/commands-en when absent; voxgate models lists them
  --json      prints JSON: the verbose transcript, or with --live one event per line
  --quiet     shows no progress; it is shown on a terminal only
  --language  BCP-47
  --params    provider_params, a JSON object: --params '{"align_text": "…"}'
  --fallbacks models to go on with when that one fails: slugs with commas between them, or a JSON array
  --url       a gateway that runs already; VOXGATE_KEY or --key names the API key`;

export const transcribe: Command = {
  usage,
  async run(args) {
    const { values, positionals } = readArguments({ usage, operandsMax: Number.POSITIVE_INFINITY }, args, {
      live: { type: 'boolean' },
      json: { type: 'boolean' },
      quiet: { type: 'boolean' },
      model: { type: 'string' },
      language: { type: 'string' },
      params: { type: 'string' },
      fallbacks: { type: 'string' },
      url: { type: 'string' },
      key: { type: 'string' },
    });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) throw new UsageError('name one file.', usage);
    const wanted: Wanted = {
      file,
      model: values.model ?? 'local/commands-en',
      json: values.json ?? false,
      language: values.language,
      params: values.params,
      fallbacks: values.fallbacks,
    };
    const line = new StatusLine({ isQuiet: values.quiet ?? false });
    const work = (target: Target) =>
      values.live ? liveTranscription(target, wanted, line) : fileTranscription(target, wanted, line);
    if (values.url === undefined) return withOwnGateway(work);
    const key = values.key || process.env[CLIENT_KEY_VARIABLE];
    if (!key) throw new CommandError('--url needs a key: give --key, or set VOXGATE_KEY.', EXIT.usage);
    return work({ url: values.url.replace(/\/$/, ''), key });
  },
};

/** Runs the work against a gateway on a free port, with a data directory that is gone afterwards. */
async function withOwnGateway(work: (target: Target) => Promise<number>): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-'));
  try {
    const config = loadSettings({
      // Providers' keys and addresses are those of the environment.
      ...process.env,
      VOXGATE_HOST: '127.0.0.1',
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_LOG_LEVEL: 'silent',
      VOXGATE_TLS_CERT_FILE: '',
      VOXGATE_TLS_KEY_FILE: '',
    });
    const gateway = await startGateway({ config, logger: createLogger('silent') });
    try {
      return await work({ url: gateway.url, key: gateway.firstKey?.secret as string });
    } finally {
      gateway.stop();
      await gateway.ended;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function fileTranscription(
  { url, key }: Target,
  { file, model, json, language, params, fallbacks }: Wanted,
  line: StatusLine,
): Promise<number> {
  const form = new FormData();
  form.set('model', model);
  form.set('response_format', 'verbose_json');
  if (language !== undefined) form.set('language', language);
  if (params !== undefined) form.set('provider_params', params);
  if (fallbacks !== undefined) form.set('fallbacks', fallbacks);
  const content = await blobOf(file);
  const progress = new FileProgress(line, content.size, backgroundClock);
  form.set('file', new CountedFile(content, basename(file), (bytes) => progress.sent(bytes)));
  const response = await fetch(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
    body: form,
  })
    .catch((error: Error & { cause?: Error }) => {
      throw noConnection(url, error.cause ?? error);
    })
    .finally(() => progress.end());
  const body = (await response.json()) as {
    text?: string;
    error?: { message: string };
    warnings?: { message: string }[];
  };
  if (!response.ok) throw new CommandError(body.error?.message ?? `the gateway answered HTTP ${response.status}.`);
  for (const warning of body.warnings ?? []) tell(`warning: ${warning.message}`);
  print(json ? JSON.stringify(body) : (body.text as string));
  return EXIT.ok;
}

async function blobOf(file: string): Promise<Blob> {
  try {
    return await openAsBlob(file);
  } catch {
    throw new CommandError(`cannot read ${file}.`);
  }
}
