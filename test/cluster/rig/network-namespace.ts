// A network of its own for one program, which can be cut off without a word: a network namespace whose link is put down.
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll } from 'vitest';

/** Why there is none: it needs root and `ip netns`. A test that needs it says so and is skipped, and fails under CI. */
export const namespaceIsHere = process.getuid?.() === 0 && spawnSync('ip', ['netns']).status === 0;
if (!namespaceIsHere) {
  const reason = 'Network namespaces are not there: they need root and `ip netns`';
  if (process.env.CI === 'true') throw new Error(`${reason}. No test is skipped under CI.`);
  console.warn(`${reason}; their tests are skipped.`);
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

const made: NetworkNamespace[] = [];
afterAll(() => {
  for (const each of made.splice(0)) each.remove();
});

export class NetworkNamespace {
  // Names of interfaces have 15 characters, and other runs may be on the machine.
  readonly name = `vg${process.pid}`;
  private readonly subnet = `10.214.${process.pid % 256}`;

  constructor() {
    made.push(this);
    const { name, subnet } = this;
    ip('netns', 'add', name);
    ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name);
    ip('addr', 'add', `${subnet}.1/24`, 'dev', `${name}a`);
    ip('link', 'set', `${name}a`, 'up');
    ip('-n', name, 'addr', 'add', `${subnet}.2/24`, 'dev', `${name}b`);
    ip('-n', name, 'link', 'set', `${name}b`, 'up');
  }

  /** Of the program inside, seen from outside. */
  get address(): string {
    return `${this.subnet}.2`;
  }

  cut(): void {
    ip('link', 'set', `${this.name}a`, 'down');
  }

  mend(): void {
    ip('link', 'set', `${this.name}a`, 'up');
  }

  remove(): void {
    spawnSync('ip', ['link', 'del', `${this.name}a`]);
    spawnSync('ip', ['netns', 'del', this.name]);
  }
}
