// How many actors of each machine are in each state now, over all nodes: every node is asked when somebody looks, and at no other time.
import { type Static, Type } from '@sinclair/typebox';
import type { MachinesView } from '../../api/console/console.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { COUNT_MACHINES } from '../../bus/subjects.ts';
import { countsOfProcess, PROCESS_ID } from '../../runtime/observe.ts';
import { type AskingBus, askEvery } from './ask-every.ts';

/** Whoever asks again sooner gets the same. */
const FRESH_MS = 1_000;

const Counted = Type.Object({
  type: Type.Literal('machines.counted'),
  process: Type.String({ maxLength: 64 }),
  states: Type.Record(Type.String({ maxLength: 256 }), Type.Integer({ minimum: 0 })),
});
type Counted = Static<typeof Counted>;

export interface MachineCounterOptions {
  bus: AskingBus & Pick<Bus, 'serve'>;
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
    const asked = [...new Set([bus.node, ...nodes()])];
    const answers = await askEvery(bus, asked, COUNT_MACHINES, { type: 'machines.count' }, Counted);
    const counts: MachinesView = { at, nodes: [], silent: [], states: {} };
    const processes = new Set<string>();
    for (const [node, answer] of answers) {
      counts[answer === undefined ? 'silent' : 'nodes'].push(node);
      if (answer === undefined || processes.has(answer.process)) continue;
      processes.add(answer.process);
      for (const [state, count] of Object.entries(answer.states))
        counts.states[state] = (counts.states[state] ?? 0) + count;
    }
    return counts;
  }
}
