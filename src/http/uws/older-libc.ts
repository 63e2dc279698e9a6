// Loads the binary of uWebSockets.js where glibc is too old for it by name only. The compiler that made the binary calls
// `__isoc23_strtol`, `__isoc23_strtoul` and `__isoc23_sscanf` (glibc 2.38) wherever the source says `strtol`, `strtoul` and `sscanf`.
// They differ in reading binary literals ("0b101") alone, which nothing here reads. A copy that names the older functions
// needs glibc 2.36, and so loads on Debian 12. The installed file stays as it is, so that its checksum can be compared.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

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
