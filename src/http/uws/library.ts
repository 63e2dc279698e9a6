// uWebSockets.js: its binary for this machine, also where that has an older C library, and the part of it that the server is written
// against. The package's own types describe more than every binary has, and leave out the listen option with a host.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface UwsBuild {
  /** Package and version, for logs. */
  readonly name: string;
  readonly library: UwsLibrary;
}

/** The package is CommonJS, and must not be loaded before its setting is in the environment. */
const require = createRequire(import.meta.url);

/**
 * The library keeps this much of a request head that arrives in pieces, and reads the figure when it is loaded. It is twice
 * the product's limit, so that the server itself says when a head is too large.
 */
const HEAD_BYTES_KEPT = 16 * 1024;
/** Undocumented: keeps the library's name out of every reply. */
const HIDE_NAME = '999999990007';

let loaded: UwsBuild | undefined;

/** Loads the library, once. Throws one sentence where it has no binary that loads on this machine. */
export function loadUws(): UwsBuild {
  loaded ??= load();
  return loaded;
}

/** The package has no binary for this system and version of Node, or is not installed: the other server adapter is the one to use. */
export class NoUwsBinary extends Error {
  override readonly name = 'NoUwsBinary';
}

type System = Pick<NodeJS.Process, 'arch' | 'platform' | 'version' | 'versions'>;

const binaryOf = (folder: string, { platform, arch, versions }: System) =>
  join(folder, `uws_${platform}_${arch}_${versions.modules}.node`);

/** @param folder of the package; undefined where it is not installed */
export function missingBinary(folder: string | undefined, system: System): NoUwsBinary | undefined {
  if (folder === undefined) return new NoUwsBinary('uWebSockets.js is not installed.');
  if (existsSync(binaryOf(folder, system))) return undefined;
  const { version, platform, arch } = system;
  return new NoUwsBinary(`uWebSockets.js has no binary for Node ${version.slice(1)} on ${platform}-${arch}.`);
}

function packageFolder(): string | undefined {
  try {
    return dirname(require.resolve('uWebSockets.js'));
  } catch {
    return undefined;
  }
}

function load(): UwsBuild {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEAD_BYTES_KEPT);
  const folder = packageFolder();
  const missing = missingBinary(folder, process);
  if (missing !== undefined || folder === undefined) throw missing;
  try {
    const library = loadFrom(folder) as UwsLibrary;
    library._cfg?.(HIDE_NAME);
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as UwsManifest;
    return { name: `${name}@${version}`, library };
  } catch (error) {
    const lines = (error as Error).message.split('\n');
    const reason = (lines.find((line) => line.startsWith('Error: ')) ?? lines[0] ?? '').replace(/^Error: |\.$/g, '');
    throw new Error(`uWebSockets.js has no binary that loads on this machine (${reason}).`);
  }
}

interface UwsManifest {
  name: string;
  version: string;
}

function loadFrom(folder: string): unknown {
  try {
    return require('uWebSockets.js');
  } catch (error) {
    if (!lacksNewerNames((error as Error).message)) throw error;
    return loadForOlderLibc(binaryOf(folder, process));
  }
}

export interface UwsLibrary {
  App(): UwsApp;
  /** Throws when the files are not a certificate and its key. */
  SSLApp(options: { cert_file_name: string; key_file_name: string }): UwsApp;
  us_listen_socket_close(socket: UwsListenSocket): void;
  us_socket_local_port(socket: UwsListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly DISABLED: number;
  _cfg?(key: string): void;
}

/** Opaque; closing it twice is undefined behaviour. */
export interface UwsListenSocket {
  readonly listenSocket: unique symbol;
}

/** Opaque: where an upgraded connection will live. */
export interface UwsContext {
  readonly context: unique symbol;
}

export interface UwsApp {
  ws(pattern: string, behaviour: UwsBehaviour): UwsApp;
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: UwsListenSocket | false) => void): UwsApp;
  /** Drops every connection and listen socket. */
  close(): UwsApp;
}

/** A throw out of any of these ends the process. */
export interface UwsEvents {
  open(socket: UwsHandle): void;
  /** The buffer is detached when the call returns. */
  message(socket: UwsHandle, message: ArrayBuffer, isBinary: boolean): void;
  drain(socket: UwsHandle): void;
  /** It is answered in any case. */
  ping(socket: UwsHandle, message: ArrayBuffer): void;
  pong(socket: UwsHandle, message: ArrayBuffer): void;
  close(socket: UwsHandle, code: number, message: ArrayBuffer): void;
}

export interface UwsBehaviour extends UwsEvents {
  compression: number;
  maxPayloadLength: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: 0 | 1;
  /** 0, or 8 to 960; anything else ends the process. */
  idleTimeout: number;
  sendPingsAutomatically: 0 | 1;
  upgrade(response: UwsResponse, request: UwsRequest, context: UwsContext): void;
}

/** Valid during the call only. */
export interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  /** Undefined when the URL has no question mark. */
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
  /** Leaves the request to the next route that fits. */
  setYield(isLeft: boolean): void;
}

/** Throws on every call once it was answered or aborted. */
export interface UwsResponse {
  getRemoteAddressAsText(): ArrayBuffer;
  onAborted(handler: () => void): void;
  /** The chunk is detached when the call returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  pause(): UwsResponse;
  resume(): UwsResponse;
  /** Sends what waits, also when nothing is written inside. */
  cork(write: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** A chunk of a body whose length is not known. False: some of what was written waits, and `onWritable` will be called. */
  write(chunk: string): boolean;
  /**
   * Once there is a handler, nothing that waits is sent unless it does so, and it is not called again until something was tried.
   * The answer of the handler: true where all that had to wait was written, or nothing did.
   */
  onWritable(handler: (offset: number) => boolean): void;
  /** Drops the connection; `onAborted` is called. */
  close(): void;
  end(body: string | Uint8Array, closeConnection: boolean): void;
  endWithoutBody(announcedBytes?: number, closeConnection?: boolean): void;
  /** Calls `open` before it returns. The user data's own properties become properties of the handle. */
  upgrade(userData: object, key: string, protocol: string, extensions: string, context: UwsContext): void;
}

/** Throws on every call once it is closed. */
export interface UwsHandle {
  /** 1: handed to the kernel or the cork buffer; 0: queued here; 2: dropped. */
  send(message: string, isBinary: boolean): 0 | 1 | 2;
  ping(text: string): void;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  close(): void;
}

/** The version of the C library that came with the names, and the prefix that they have there. */
const TOO_NEW = 'GLIBC_2.38';
const PREFIX = '__isoc23_';
const RENAMED: ReadonlySet<string> = new Set(['strtol', 'strtoul', 'sscanf']);
/** The version of functions that have always been there, by the processor's number in the file: x64 and arm64. */
const FIRST_VERSIONS: ReadonlyMap<number, string> = new Map([
  [62, 'GLIBC_2.2.5'],
  [183, 'GLIBC_2.17'],
]);
const PROCESSOR_AT = 0x12;

const ELF_64_LITTLE_ENDIAN = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
/** Types of sections. */
const DYNAMIC_SYMBOLS = 11;
const NEEDED_VERSIONS = 0x6ffffffe;
const SYMBOL_VERSIONS = 0x6fffffff;
const SYMBOL_BYTES = 24;
/** A version that may be missing. */
const WEAK = 2;

interface Section {
  type: number;
  offset: number;
  bytes: number;
  /** The section that has its names. */
  link: number;
  entries: number;
}

/** Whether an error of the dynamic linker says that a copy with the older names would load. */
export const lacksNewerNames = (message: string): boolean => message.includes(`version \`${TOO_NEW}' not found`);

/** Loads a copy of a binary that names the older functions. Throws what the dynamic linker says, or that there is no such copy. */
export function loadForOlderLibc(file: string): unknown {
  const binary = readFileSync(file);
  if (!nameOlderFunctions(binary)) throw new Error(`The binary needs more of ${TOO_NEW} than other names.`);
  const folder = mkdtempSync(join(tmpdir(), 'voxgate-uws-'));
  try {
    const copy = join(folder, 'uws.node');
    writeFileSync(copy, binary, { mode: 0o500 });
    const loaded = { exports: {} };
    // A function that is missing after all is an error here, and not the end of the process when it is first called.
    process.dlopen(loaded, copy, constants.dlopen.RTLD_NOW);
    return loaded.exports;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Changes a shared library in place. False, and nothing is to be made of it, where it is none, or needs anything else that is too new. */
export function nameOlderFunctions(elf: Buffer): boolean {
  if (!elf.subarray(0, ELF_64_LITTLE_ENDIAN.length).equals(ELF_64_LITTLE_ENDIAN)) return false;
  const sections = sectionsOf(elf);
  const sectionOf = (type: number) => sections.find((section) => section.type === type);
  const symbols = sectionOf(DYNAMIC_SYMBOLS);
  const versions = sectionOf(SYMBOL_VERSIONS);
  const needed = sectionOf(NEEDED_VERSIONS);
  const names = sections[symbols?.link ?? -1];
  if (symbols === undefined || versions === undefined || needed === undefined || names === undefined) return false;
  const nameAt = (index: number) => {
    const start = names.offset + index;
    return elf.toString('latin1', start, elf.indexOf(0, start));
  };
  const found = weaken(elf, needed, nameAt);
  if (found.tooNew === undefined || found.first === undefined) return false;
  for (let index = 0; index < symbols.bytes / SYMBOL_BYTES; index++) {
    const version = versions.offset + 2 * index;
    if (elf.readUInt16LE(version) !== found.tooNew) continue;
    const symbol = symbols.offset + SYMBOL_BYTES * index;
    const nameIndex = elf.readUInt32LE(symbol);
    const name = nameAt(nameIndex);
    if (!name.startsWith(PREFIX) || !RENAMED.has(name.slice(PREFIX.length))) return false;
    // The older name is the end of the newer one, and is read from there.
    elf.writeUInt32LE(nameIndex + PREFIX.length, symbol);
    elf.writeUInt16LE(found.first, version);
  }
  return true;
}

function sectionsOf(elf: Buffer): Section[] {
  const first = Number(elf.readBigUInt64LE(0x28));
  const [bytes, count] = [elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c)];
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * bytes;
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 0x18)),
      bytes: Number(elf.readBigUInt64LE(at + 0x20)),
      link: elf.readUInt32LE(at + 0x28),
      entries: elf.readUInt32LE(at + 0x2c),
    };
  });
}

/** Marks the version that is too new as one that may be missing; gives back its index, and that of the first version. */
function weaken(elf: Buffer, needed: Section, nameAt: (index: number) => string): { tooNew?: number; first?: number } {
  const found: { tooNew?: number; first?: number } = {};
  const firstVersion = FIRST_VERSIONS.get(elf.readUInt16LE(PROCESSOR_AT));
  let library = needed.offset;
  for (let each = 0; each < needed.entries; each++) {
    const isLibc = nameAt(elf.readUInt32LE(library + 4)).startsWith('libc.so.');
    let version = library + elf.readUInt32LE(library + 8);
    for (let left = elf.readUInt16LE(library + 2); isLibc && left > 0; left--) {
      const [name, index] = [nameAt(elf.readUInt32LE(version + 8)), elf.readUInt16LE(version + 6)];
      if (name === firstVersion) found.first = index;
      if (name === TOO_NEW) {
        found.tooNew = index;
        elf.writeUInt16LE(elf.readUInt16LE(version + 4) | WEAK, version + 4);
      }
      version += elf.readUInt32LE(version + 12);
    }
    library += elf.readUInt32LE(library + 12);
  }
  return found;
}
