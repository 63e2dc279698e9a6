// Reports of a provider: out of files, or asked of it.
import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../../config/schema.ts';
import { readUsageCsv } from '../../money/reconcile/usage-csv.ts';
import { serviceAccess } from '../../node/context.ts';
import type { Providers } from '../../vendors/index.ts';
import { type JsonObject, objectIn } from '../../vendors/kit/json.ts';
import type { Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { type ReportedUsage, UsageReportError } from '../../vendors/kit/usage-report.ts';
import { CommandError } from '../shared/output.ts';
import { requireReadable } from '../shared/values.ts';

export const REPORT_BYTES_MAX = 64 * 1024 * 1024;
const ANSWER_MS = 60_000;
const KEY = /^[!-~]{1,4096}$/;

/** Throws a UsageReportError or CommandError. */
export function fileReport(provider: Provider, name: string): ReportedUsage[] {
  requireReadable(name, 'a file');
  if (statSync(name).size > REPORT_BYTES_MAX)
    throw new CommandError(`${name} has more than ${REPORT_BYTES_MAX / 1024 / 1024} MiB. Export fewer days.`);
  const text = readFileSync(name, 'utf8').replace(/^\uFEFF/, '');
  try {
    return /^\s*[[{]/.test(text) ? jsonReport(provider, text) : readUsageCsv(text);
  } catch (error) {
    throw error instanceof UsageReportError ? new CommandError(`${name}: ${error.message}`) : error;
  }
}

/** One answer of the provider, or a list of such. */
function jsonReport({ name, usageReports }: Provider, text: string): ReportedUsage[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageReportError('The file is cut off, or is not JSON.');
  }
  if (usageReports === undefined)
    throw new UsageReportError(
      `JSON of ${name} is not known here. Write its usage as CSV: day, model, seconds, amount.`,
    );
  return (Array.isArray(json) ? json : [json]).flatMap((each) => {
    const reported = usageReports.read(objectIn(each));
    if (reported !== undefined) return reported;
    throw new UsageReportError(`The file is not a report of ${name}. Export ${usageReports.source}.`);
  });
}

interface Asked {
  provider: Provider;
  providers: Providers;
  config: Config;
}

/** @param keyFile with another key than the gateway's */
export async function askedReport(
  { provider, providers, config }: Asked,
  { from, to }: { from: string; to: string },
  keyFile: string | undefined,
): Promise<ReportedUsage[]> {
  const { name, usageReports } = provider;
  if (usageReports?.ask === undefined)
    throw new CommandError(`${name} has no interface for its usage. Export it as CSV: day, model, seconds, amount.`);
  const access = accessOf(serviceAccess({ config, providers })(name), keyFile);
  if (access.credential === undefined && access.fields === undefined)
    throw new CommandError(`Voxgate has no credential for ${name}. Configure it, or name a file with --key-file.`);
  return usageReports.ask(access, from, to, (url, headers) => getJson(provider, url, headers));
}

function accessOf(access: ProviderAccess, keyFile: string | undefined): ProviderAccess {
  if (keyFile === undefined) return access;
  requireReadable(keyFile, 'a file with a key');
  const key = readFileSync(keyFile, 'utf8').trim();
  if (!KEY.test(key)) throw new CommandError(`${keyFile} must have one key, and nothing else.`);
  return { ...access, credential: key, ...(access.fields && { fields: { ...access.fields, api_key: key } }) };
}

/** Says nothing of what was sent or answered: either may show the key. */
async function getJson(
  { title, usageReports }: Provider,
  url: string,
  headers: Record<string, string>,
): Promise<JsonObject> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
    text = response.ok ? await limitedText(response) : '';
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${title} did not answer. Check the network, or export a file.`);
  }
  if (!response.ok)
    throw new CommandError(`${title} answered ${response.status}. Export a file instead: ${usageReports?.source}.`);
  try {
    return objectIn(JSON.parse(text));
  } catch {
    throw new CommandError(`${title} answered without JSON.`);
  }
}

async function limitedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > REPORT_BYTES_MAX) throw new CommandError('the answer is too large. Ask for fewer days.');
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
