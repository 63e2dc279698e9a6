// One story of a machine: what happens to it, and where that leads.
import { expect } from 'vitest';
import type { AnyMachineSnapshot, EventObject, StateValue } from 'xstate';
import { toGraph } from '../../machines/drawing/graph.ts';
import { machines } from '../../machines/index.ts';
import { hold } from '../fakes/explore.ts';

/** An event without members is written as its label in the drawings: `after backOff`, `done settle`, `client.close`. */
type Happening = string | EventObject;

export interface Story {
  story: string;
  events: Happening[];
  state: StateValue;
  /** Provided actions, in order, where the story is about them. */
  calls?: string[];
  /** What the machine puts out, or a part of it. */
  output?: object;
}

/** Lets a real actor live the story, and gives where it has come to. */
export async function tell(id: string, { events, state, calls, output }: Story): Promise<AnyMachineSnapshot> {
  const entry = machines.find((machine) => machine.id === id)!;
  const { edges } = toGraph(entry.machine);
  const held = hold(entry);
  for (const happening of events) {
    const known = edges.find(({ label }) => label === happening);
    if (typeof happening === 'string' && known === undefined) throw new Error(`No edge of ${id} says "${happening}".`);
    await held.apply(typeof happening === 'string' ? { type: known?.event ?? happening } : happening);
  }
  expect(held.snapshot().value).toEqual(state);
  if (calls !== undefined) expect(held.calls).toEqual(calls);
  if (output !== undefined) expect(held.snapshot().output).toMatchObject(output);
  expect(held.errors).toEqual([]);
  return held.snapshot();
}
