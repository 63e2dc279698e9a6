// Mermaid is not a dependency: its text is held to the small part of its grammar that we write.

import { describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { toGraph } from '../../machines/drawing/graph.ts';
import { mermaidId, toMermaid } from '../../machines/drawing/mermaid.ts';
import { machines } from '../../machines/index.ts';

const LINES = {
  state: /^state "[^"]+" as (\w+)( \{)?$/,
  detail: /^(\w+) : [^:;{}]+$/,
  start: /^\[\*\] --> (\w+)$/,
  end: /^(\w+) --> \[\*\]$/,
  arrow: /^(\w+) --> (\w+) : [^:;{}]+$/,
  note: /^note right of (\w+)$/,
};

interface Parsed {
  declared: string[];
  used: string[];
  /** `from --> to` for each arrow. */
  arrows: string[];
  noteLines: string[];
}

/** Reads a chart; throws at the first line that is not in the grammar. */
function parse(text: string): Parsed {
  const [first, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim());
  expect(first).toBe('stateDiagram-v2');
  const parsed: Parsed = { declared: [], used: [], arrows: [], noteLines: [] };
  let [depth, inNote] = [0, false];
  for (const line of lines) {
    const [state, detail, start, end, arrow, note] = Object.values(LINES).map((form) => form.exec(line));
    if (inNote) {
      inNote = line !== 'end note';
      if (inNote) parsed.noteLines.push(line);
    } else if (line === '}') depth -= 1;
    else if (state) {
      parsed.declared.push(state[1]!);
      if (state[2] !== undefined) depth += 1;
    } else if (arrow) {
      parsed.used.push(arrow[1]!, arrow[2]!);
      parsed.arrows.push(`${arrow[1]} --> ${arrow[2]}`);
    } else if (note) {
      inNote = true;
      parsed.used.push(note[1]!);
    } else {
      const known = detail ?? start ?? end;
      if (known === null || known === undefined) throw new Error(`Not in the grammar: ${line}`);
      parsed.used.push(known[1]!);
    }
    expect(depth).toBeGreaterThanOrEqual(0);
  }
  expect([depth, inNote]).toEqual([0, false]);
  return parsed;
}

describe.each(machines)('the charts of $id', ({ machine }) => {
  const graph = toGraph(machine);
  const charts = toMermaid(graph);
  const parsed = charts.map(({ text }) => parse(text));

  test('follow the grammar, and declare each state that they use once', () => {
    for (const { declared, used } of parsed) {
      expect(new Set(declared).size).toBe(declared.length);
      expect(declared).toEqual(expect.arrayContaining([...new Set(used)]));
    }
  });

  test('contain every state', () => {
    const owners = new Set(charts.map(({ id }) => id));
    const states = graph.nodes.filter(({ id }) => !owners.has(id)).map(({ id }) => mermaidId(id));
    expect(parsed.flatMap(({ declared }) => declared)).toEqual(expect.arrayContaining(states));
  });

  test('contain every transition exactly once', () => {
    const owners = new Set(charts.map(({ id }) => id));
    const nameOf = (id: string) => `${mermaidId(id)}${owners.has(id) ? '_any' : ''}`;
    const leaving = graph.edges.flatMap(({ from, to }) =>
      to === null ? [] : [`${nameOf(from)} --> ${mermaidId(to)}`],
    );
    const staying = graph.edges.filter(({ to }) => to === null);
    expect(parsed.flatMap(({ arrows }) => arrows).toSorted()).toEqual(leaving.toSorted());
    expect(parsed.flatMap(({ noteLines }) => noteLines)).toHaveLength(staying.length);
  });
});

test('draws every region of a parallel state as a separate chart', () => {
  const charts = toMermaid(toGraph(machines[0]!.machine));
  expect(charts.map(({ id }) => id)).toEqual([
    'session',
    'session.live.link',
    'session.live.client',
    'session.live.limits',
  ]);
  expect(charts.filter(({ text }) => text.includes('{'))).toEqual([]);
});

test('writes a transition between nested states in the innermost block that holds both', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: {
      a: { initial: 'b', states: { b: { on: { in: 'c', out: '#m.d' } }, c: { on: { up: '#m.a' } } } },
      d: { on: { back: 'a.c' } },
    },
  });
  expect(toMermaid(toGraph(machine))[0]!.text).toBe(`stateDiagram-v2
  state "a" as m_a {
    state "b" as m_a_b
    state "c" as m_a_c
    [*] --> m_a_b
    m_a_b --> m_a_c : in
  }
  state "d" as m_d
  [*] --> m_a
  m_a_b --> m_d : out
  m_a_c --> m_a : up
  m_d --> m_a_c : back
`);
});
