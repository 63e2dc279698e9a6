// Which node has a call. Its session's id says so; by another name all nodes are asked.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../machines/clock.ts';
import type { Address, Bus } from '../../cluster/bus/bus.ts';
import { CALL_WANTED } from '../../cluster/bus/subjects.ts';
import { nodeOfSession } from '../session/session-opening.ts';

/** How long the nodes have to say that they have it. */
const ANSWER_MS = 500;

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Wanted = Type.Object({ type: Type.Literal(CALL_WANTED), organisationId: Name, name: Name, asker: Name });
const Here = Type.Object({ type: Type.Literal('call.here'), node: Name });

export interface CallPlacesOptions {
  bus: Bus;
  clock: Clock;
  has(organisationId: string, name: string): boolean;
}

export class CallPlaces {
  readonly #options: CallPlacesOptions;
  #count = 0;

  constructor(options: CallPlacesOptions) {
    this.#options = options;
    const { bus, has } = options;
    bus.subscribe(CALL_WANTED, (body) => {
      if (!Value.Check(Wanted, body) || !has(body.organisationId, body.name)) return;
      const here: Static<typeof Here> = { type: 'call.here', node: bus.node };
      bus.send(body.asker as Address, bus.address('calls'), here);
    });
  }

  /** The node; undefined where none has it. */
  async find(organisationId: string, name: string): Promise<string | undefined> {
    const known = nodeOfSession(name);
    if (known !== undefined) return known;
    const { bus, clock } = this.#options;
    this.#count++;
    const actorId = `call.wanted.${this.#count}`;
    return new Promise((resolve) => {
      const found = (node?: string) => {
        detach();
        clock.clearTimeout(timer);
        resolve(node);
      };
      const timer = clock.setTimeout(() => found(), ANSWER_MS);
      const detach = bus.attach(actorId, ({ body }) => {
        if (Value.Check(Here, body)) found(body.node);
      });
      bus.publish(CALL_WANTED, { type: CALL_WANTED, organisationId, name, asker: bus.address(actorId) } as Static<
        typeof Wanted
      >);
    });
  }
}
