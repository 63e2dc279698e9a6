// One question to the service of many nodes at once, for whoever looks at all of them.
import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Bus, BusBody } from '../../bus/bus.ts';

/** A node that does not answer in this time is told of as silent. */
const ANSWER_MS = 1_000;
const NODES_MAX = 256;

export type AskingBus = Pick<Bus, 'node' | 'requestOf' | 'address'>;

/** By node, in their order; undefined of one that did not answer, or not in these words. Never rejects. */
export async function askEvery<Schema extends TSchema>(
  bus: AskingBus,
  nodes: readonly string[],
  service: string,
  body: BusBody,
  schema: Schema,
): Promise<Map<string, Static<Schema> | undefined>> {
  const from = bus.address(service);
  const asked = nodes.slice(0, NODES_MAX).map(async (node) => {
    const answer: unknown = await bus.requestOf(node, service, from, body, ANSWER_MS).catch(() => undefined);
    return [node, Value.Check(schema, answer) ? answer : undefined] as const;
  });
  return new Map(await Promise.all(asked));
}
