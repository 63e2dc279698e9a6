// How many actors of each machine are in each state now, over all nodes: every node is asked when somebody looks, and at no other time.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { MachinesView } from '../../api/console/console.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { COUNT_MACHINES } from '../../bus/subjects.ts';
import { countsOfProcess, PROCESS_ID } from '../../runtime/observe.ts';

/** A node that does not answer in this time is named. */
const ANSWER_MS = 1_000;
/** Whoever asks again sooner gets the same. */
const FRESH_MS = 1_000;
const NODES_MAX = 256;

const Counted = Type.Object({
  type: Type.Literal('machines.counted'),
  process: Type.String({ maxLength: 64 }),
  states: Type.Record(Type.String({ maxLength: 256 }), Type.Integer({ minimum: 0 })),
});
type Counted = Static<typeof Counted>;

export interface MachineCounterOptions {
  bus: Pick<Bus, 'node' | 'serve' | 'requestOf' | 'address'>;
  /** All nodes that are known, this one maybe among them. */
  nodes(): string[];
  nowMs(): number;
}

export class MachineCounter {
  readonly #options: MachineCounterOptions;
  readonly #detach: Detach;
  #latest: { atMs: number; counts: Promise<MachinesView> } | undefined;

  constructor(options: MachineCounterOptions) {
    this.#options = options;
    this.#detach = options.bus.serve(
      COUNT_MACHINES,
      (): Counted => ({ type: 'machines.counted', process: PROCESS_ID, states: countsOfProcess() }),
    );
  }

  /** Never rejects. */
  count(): Promise<MachinesView> {
    const nowMs = this.#options.nowMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= FRESH_MS)
      this.#latest = { atMs: nowMs, counts: this.#ask(new Date(nowMs).toISOString()) };
    return this.#latest.counts;
  }

  close(): void {
    this.#detach();
  }

  async #ask(at: string): Promise<MachinesView> {
    const { bus, nodes } = this.#options;
    const asked = [...new Set([bus.node, ...nodes()])].slice(0, NODES_MAX);
    const answers = await Promise.all(asked.map((node) => this.#askOne(node)));
    const counts: MachinesView = { at, nodes: [], silent: [], states: {} };
    const processes = new Set<string>();
    for (const [index, node] of asked.entries()) {
      const answer = answers[index];
      counts[answer === undefined ? 'silent' : 'nodes'].push(node);
      if (answer === undefined || processes.has(answer.process)) continue;
      processes.add(answer.process);
      for (const [state, count] of Object.entries(answer.states))
        counts.states[state] = (counts.states[state] ?? 0) + count;
    }
    return counts;
  }

  async #askOne(node: string): Promise<Counted | undefined> {
    const { bus } = this.#options;
    try {
      const answer = await bus.requestOf(
        node,
        COUNT_MACHINES,
        bus.address('machines'),
        { type: 'machines.count' },
        ANSWER_MS,
      );
      return Value.Check(Counted, answer) ? answer : undefined;
    } catch {
      return undefined;
    }
  }
}
