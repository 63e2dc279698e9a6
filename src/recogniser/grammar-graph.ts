// What a grammar will cost the recogniser, counted on the same graph its C code builds. Only counts: nothing is compiled here.
import { type Expansion, GrammarError } from './expansion.ts';

/**
 * Bounds of a grammar's graph. The C code closes the empty transitions in cubic time, and the search tries every word that
 * may come next: both are free for a customer to blow up. At these bounds the worst grammars found compiled in 150 ms and
 * were decoded in a seventh of real time.
 */
export const GRAPH_BOUNDS = {
  /** Pairs of empty transitions that meet in a state, once the transitions are closed. */
  closureStepsMax: 500_000,
  /** Words that may follow at one point. */
  choicesMax: 500,
} as const;

interface State {
  /** States reached without a word. */
  empty: number[];
  /** Words that leave this state. */
  words: number;
}

/**
 * Checks the cost of a grammar whose rules are written out.
 *
 * @throws GrammarError when it is too dear
 */
export function checkCost(expansion: Expansion): void {
  const states = graphOf(expansion);
  const arriving = new Array<number>(states.length).fill(0);
  const leaving: number[] = [];
  let pairs = 0;
  for (const [from, state] of states.entries()) {
    const reached = reachedFrom(from, states);
    leaving.push(reached.size);
    pairs += reached.size;
    // The closure has at least as many steps as pairs, so a hopeless grammar is left early.
    if (pairs > GRAPH_BOUNDS.closureStepsMax) refuseClosure();
    let choices = state.words;
    for (const to of reached) {
      arriving[to]! += 1;
      choices += states[to]!.words;
    }
    if (choices > GRAPH_BOUNDS.choicesMax) {
      throw new GrammarError(`More than ${GRAPH_BOUNDS.choicesMax} words may follow at one point; split the grammar.`);
    }
  }
  const steps = leaving.reduce((total, count, state) => total + count * arriving[state]!, 0);
  if (steps > GRAPH_BOUNDS.closureStepsMax) refuseClosure();
}

function refuseClosure(): never {
  throw new GrammarError('Too many optional or repeated parts follow one another; write fewer of them.');
}

/** States reached from one state by empty transitions alone, itself left out. */
function reachedFrom(start: number, states: readonly State[]): Set<number> {
  const reached = new Set<number>();
  const open = [...states[start]!.empty];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state === start || reached.has(state)) continue;
    reached.add(state);
    open.push(...states[state]!.empty);
  }
  return reached;
}

/** Builds the states as `jsgf.c` does: every group has an entry and an exit. */
function graphOf(expansion: Expansion): State[] {
  const states: State[] = [];
  const add = (): number => states.push({ empty: [], words: 0 }) - 1;
  const join = (from: number, to: number): void => {
    states[from]!.empty.push(to);
  };
  /** Adds a part that begins in `from`; returns the state it ends in. */
  const grow = (part: Expansion, from: number): number => {
    switch (part.kind) {
      case 'word':
        states[from]!.words += 1;
        return add();
      case 'rule':
        return from;
      case 'sequence':
        return part.parts.reduce((at, next) => grow(next, at), from);
      case 'alternatives':
        return group(
          from,
          part.parts.map((one) => one.part),
        ).exit;
      case 'times': {
        const { entry, exit } = group(from, [part.part]);
        if (part.times !== '+') join(entry, exit);
        if (part.times !== '?') join(exit, entry);
        return exit;
      }
    }
  };
  const group = (from: number, parts: Expansion[]): { entry: number; exit: number } => {
    const entry = add();
    const exit = add();
    join(from, entry);
    for (const part of parts) join(grow(part, entry), exit);
    return { entry, exit };
  };
  grow(expansion, add());
  return states;
}
