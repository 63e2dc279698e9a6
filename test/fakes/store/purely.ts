// Runs work that must depend on its inputs alone, and reports each use of a clock, a random source or a timer.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';

/** The members that are refused. Hashes depend on their input alone, so they are allowed. */
const MEMBERS: readonly (readonly [name: string, holder: object, members: readonly string[]])[] = [
  ['Math', Math, ['random']],
  ['performance', performance, ['now']],
  ['process', process, ['hrtime', 'uptime', 'cpuUsage', 'memoryUsage', 'nextTick']],
  ['globalThis', globalThis, ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch']],
  ['webcrypto', Object.getPrototypeOf(globalThis.crypto) as object, ['getRandomValues', 'randomUUID']],
  [
    'crypto',
    crypto,
    [
      'randomBytes',
      'randomFill',
      'randomFillSync',
      'randomInt',
      'randomUUID',
      'generateKey',
      'generateKeySync',
      'generateKeyPair',
      'generateKeyPairSync',
      'generatePrime',
      'generatePrimeSync',
    ],
  ],
];

/** A date without a time is in UTC. */
const WITH_ZONE = /(?:Z|[+-]\d\d:\d\d|^\d{4}-\d\d-\d\d)$/;

/** The result, and the refused members that the work used. They are reported and thrown, because the work may catch the error. */
export function purely<Result>(work: () => Result): { result: Result; used: string[] } {
  const used: string[] = [];
  const refuse = (name: string): never => {
    used.push(name);
    throw new Error(`${name} does not depend on the inputs alone`);
  };
  const RealDate = globalThis.Date;
  /** A given time can still be read from text and written as text. */
  class GivenDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      if (given.length === 0) refuse('new Date()');
      const isLocal = given.length > 1 || (typeof given[0] === 'string' && !WITH_ZONE.test(given[0]));
      if (isLocal) refuse(`new Date(${given}), which depends on the zone of the machine`);
      super(...(given as [number]));
    }

    static override now(): number {
      return refuse('Date.now');
    }
  }
  const restore: (() => void)[] = [];
  const replace = (holder: object, member: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(holder, member);
    Object.defineProperty(holder, member, { value, configurable: true, writable: true, enumerable: true });
    restore.push(() => {
      if (before === undefined) Reflect.deleteProperty(holder, member);
      else Object.defineProperty(holder, member, before);
    });
  };
  for (const [name, holder, members] of MEMBERS) {
    for (const member of members) replace(holder, member, () => refuse(`${name}.${member}`));
  }
  replace(globalThis, 'Date', GivenDate);
  syncBuiltinESMExports();
  try {
    return { result: work(), used };
  } finally {
    for (const each of restore.reverse()) each();
    syncBuiltinESMExports();
  }
}
