// Files on their way to a gateway: the one that is named, or one that is started for as long as a command takes.
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CLIENT_KEY_VARIABLE } from '../../config/load.ts';
import { startGateway } from '../../node/gateway.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { createLogger } from '../../runtime/telemetry/log.ts';
import { CommandError, EXIT } from '../shared/output.ts';
import { gatewayUrl, loadSettings } from '../shared/settings.ts';
import { noConnection, type Target } from './live.ts';
import { CountedFile, FileProgress, type StatusLine } from './progress.ts';

/** The gateway that runs already, where one is named. */
export function targetOf({ url, key: given }: { url?: string; key?: string }): Target | undefined {
  if (url === undefined) return undefined;
  const key = given || process.env[CLIENT_KEY_VARIABLE];
  if (!key) throw new CommandError('--url needs a key: give --key, or set VOXGATE_KEY.', EXIT.usage);
  return { url: gatewayUrl(url), key };
}

/** Runs the work against a gateway on a free port, with a data directory that is gone afterwards. */
export async function withOwnGateway(work: (target: Target) => Promise<number>): Promise<number> {
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

/** Throws a CommandError where there is no connection. @param line shows the progress; none when absent */
export async function sendFile(
  { url, key }: Target,
  file: string,
  fields: Readonly<Record<string, string | undefined>>,
  line?: StatusLine,
): Promise<{ response: Response; text: string }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, value);
  const content = await openAsBlob(file);
  const progress = line && new FileProgress(line, content.size, backgroundClock);
  form.set('file', new CountedFile(content, basename(file), (bytes) => progress?.sent(bytes)));
  const response = await fetch(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
    body: form,
  })
    .catch((error: Error & { cause?: Error }) => {
      throw noConnection(url, error.cause ?? error);
    })
    .finally(() => progress?.end());
  return { response, text: await response.text() };
}

export interface Answered {
  text?: string;
  model?: string;
  error?: { code: string; message: string };
  warnings?: { code: string; message: string }[];
}

/** Empty for a body that is not JSON, such as subtitles. */
export function answerOf(text: string): Answered {
  try {
    return JSON.parse(text) as Answered;
  } catch {
    return {};
  }
}
