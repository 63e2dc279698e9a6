// Compiles a grammar to the smallest automaton over words, which is what a decoder searches. Its bounds are what a grammar may
// cost: the decoder's work per second grows with the states, and with the words that may follow at one point.
import { type Expansion, GrammarError } from './grammar.ts';

/** The dearest grammars found within these bounds were compiled in 150 ms and decoded in an eighth of real time. */
export const AUTOMATON_BOUNDS = {
  statesMax: 2_000,
  /** Words that may follow at one point. */
  choicesMax: 500,
  /** Steps of the compilation: a small grammar may have an automaton that grows without end. */
  stepsMax: 1_000_000,
} as const;

/** States are numbers from 0, the start. No state has two arcs with one word. */
export interface Automaton {
  states: number;
  arcs: { from: number; word: string; to: number }[];
  /** States in which a turn may end. */
  accepting: number[];
}

/** A state that may have several arcs with one word, and arcs without a word. */
interface LooseState {
  empty: number[];
  words: { word: string; to: number }[];
}

/** A state with one arc for each word. */
interface State {
  accepting: boolean;
  arcs: Map<string, number>;
}

/** @throws GrammarError when the automaton is outside the bounds */
export function automatonOf(expansion: Expansion): Automaton {
  const states = determined(looseStates(expansion));
  const classes = merged(states);
  const arcs = new Map<string, { from: number; word: string; to: number }>();
  const accepting = new Set<number>();
  for (const [at, state] of states.entries()) {
    const from = classes[at]!;
    if (state.accepting) accepting.add(from);
    for (const [word, to] of state.arcs) arcs.set(`${from} ${word}`, { from, word, to: classes[to]! });
  }
  return { states: new Set(classes).size, arcs: [...arcs.values()], accepting: [...accepting] };
}

const START = 0;
const END = 1;

function looseStates(expansion: Expansion): LooseState[] {
  const states: LooseState[] = [];
  const add = (): number => states.push({ empty: [], words: [] }) - 1;
  const join = (from: number, to: number): void => {
    states[from]!.empty.push(to);
  };
  const grow = (part: Expansion, from: number, to: number): void => {
    switch (part.kind) {
      case 'word':
        states[from]!.words.push({ word: part.word, to });
        return;
      case 'rule':
        throw new TypeError(`${part.name} was not written out.`);
      case 'sequence': {
        let at = from;
        for (const [index, next] of part.parts.entries()) {
          const end = index === part.parts.length - 1 ? to : add();
          grow(next, at, end);
          at = end;
        }
        return;
      }
      case 'alternatives':
        for (const one of part.parts) grow(one, from, to);
        return;
      case 'times': {
        // States of its own, so that what is repeated cannot be left or entered by what stands beside it.
        const entry = add();
        const exit = add();
        join(from, entry);
        grow(part.part, entry, exit);
        if (part.times !== '+') join(entry, exit);
        if (part.times !== '?') join(exit, entry);
        join(exit, to);
      }
    }
  };
  grow(expansion, add(), add());
  return states;
}

/** Follows every word from every set of states that can be reached, so that each set becomes one state. The first is the start. */
function determined(loose: readonly LooseState[]): State[] {
  let steps = 0;
  /** A set with all that it reaches without a word, in order. */
  const closed = (from: Iterable<number>): number[] => {
    const reached = new Set(from);
    for (const at of reached) {
      for (const to of loose[at]!.empty) reached.add(to);
    }
    steps += reached.size;
    if (steps > AUTOMATON_BOUNDS.stepsMax) throw tooLarge();
    return [...reached].sort((a, b) => a - b);
  };
  const states: State[] = [];
  const sets: number[][] = [];
  const known = new Map<string, number>();
  const stateOf = (set: number[]): number => {
    const key = set.join(' ');
    const before = known.get(key);
    if (before !== undefined) return before;
    const at = states.push({ accepting: set.includes(END), arcs: new Map() }) - 1;
    // Merging leaves fewer; this many is hopeless.
    if (at >= 4 * AUTOMATON_BOUNDS.statesMax) throw tooLarge();
    known.set(key, at);
    sets.push(set);
    return at;
  };
  stateOf(closed([START]));
  for (let at = 0; at < states.length; at++) {
    const targets = new Map<string, number[]>();
    for (const member of sets[at]!) {
      for (const { word, to } of loose[member]!.words) {
        const list = targets.get(word);
        if (list === undefined) targets.set(word, [to]);
        else list.push(to);
      }
    }
    if (targets.size > AUTOMATON_BOUNDS.choicesMax) {
      throw new GrammarError(`More than ${AUTOMATON_BOUNDS.choicesMax} words may follow at one point; allow fewer.`);
    }
    for (const [word, to] of targets) states[at]!.arcs.set(word, stateOf(closed(to)));
  }
  return states;
}

/** Merges states from which the same words lead on, all the way (Moore's refinement). Returns each state's class; the start is 0. */
function merged(states: readonly State[]): number[] {
  let classes: number[] = states.map(({ accepting }) => Number(accepting));
  for (let count = 0; ; ) {
    const numbers = new Map<string, number>();
    const refined = states.map(({ arcs }, at) => {
      const next = [...arcs].map(([word, to]) => `${word} ${classes[to]}`).sort();
      const signature = `${classes[at]}:${next.join(',')}`;
      const number = numbers.get(signature) ?? numbers.size;
      numbers.set(signature, number);
      return number;
    });
    classes = refined;
    if (numbers.size === count) break;
    count = numbers.size;
  }
  if (new Set(classes).size > AUTOMATON_BOUNDS.statesMax) throw tooLarge();
  return classes;
}

function tooLarge(): GrammarError {
  return new GrammarError(
    'It allows too many different turns to be searched in time; have fewer optional and repeated parts, and fewer words.',
  );
}
