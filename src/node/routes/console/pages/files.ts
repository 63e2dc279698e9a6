// The files of the console, as the build made them of src/console: read once, compressed when they are wanted first.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { DoorRequest, Reply } from '../../../../http/door.ts';
import { consoleFolder } from '../../../../runtime/telemetry/worker-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  wav: 'audio/wav',
  woff2: 'font/woff2',
};

const compress = promisify(brotliCompress);
/** Of 11: beyond it the first reader would wait for a second. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 7 };

export interface BuiltFile {
  bytes: Buffer;
  /** Made when it is wanted first, off the event loop; undefined for sound and fonts, which gain nothing. */
  compressed(): Promise<Buffer> | undefined;
  type: string;
  tag: string;
}

/** By their paths in the folder of the build; none where the console was not built. */
export function readFiles(): ReadonlyMap<string, BuiltFile> {
  const folder = consoleFolder();
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return new Map(names.filter((name) => /\.\w+$/.test(name)).map((name) => [name, read(new URL(name, folder))]));
}

/** @param own what the answer says beside what every file's does */
export async function served(
  { headers: asked }: DoorRequest,
  { bytes, compressed, type, tag }: BuiltFile,
  { Vary = '', ...own }: Record<string, string>,
): Promise<Reply> {
  const varies = Vary === '' ? 'Accept-Encoding' : `${Vary}, Accept-Encoding`;
  const headers = { ...own, ETag: tag, Vary: varies, 'Content-Type': type };
  if (asked.get('if-none-match') === tag) return { status: 304, headers };
  const takesBrotli = /(?:^|[\s,])br(?:[\s,;]|$)/.test(asked.get('accept-encoding') ?? '');
  const body = takesBrotli ? await compressed() : undefined;
  if (body === undefined) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'br' }, body };
}

function read(url: URL): BuiltFile {
  const bytes = readFileSync(url);
  const ending = url.pathname.slice(url.pathname.lastIndexOf('.') + 1);
  const type = TYPES[ending] ?? 'application/octet-stream';
  return {
    bytes,
    compressed: ['wav', 'woff2'].includes(ending) ? () => undefined : once(() => compress(bytes, { params: QUALITY })),
    type,
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
