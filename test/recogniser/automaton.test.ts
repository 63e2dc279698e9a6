// Grammars before they reach a decoder: what is read and refused, and that an automaton allows exactly what its grammar does.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Automaton, automatonOf } from '../../src/recogniser/grammar/automaton.ts';
import { type Expansion, readGrammar } from '../../src/recogniser/grammar/grammar.ts';
import { TaskCompiler } from '../../src/recogniser/grammar/task-compiler.ts';
import { type GrammarQuery, readQuery } from '../../src/recogniser/protocol.ts';
import { REFUSED, UNALIGNABLE } from './grammars.ts';
import { queryFor } from './listening.ts';

const LENGTH_MAX = 4;

/** The turns an automaton allows, up to a length. */
function allowedBy({ arcs, accepting }: Automaton): Set<string> {
  const turns = new Set<string>();
  let open: { at: number; words: string[] }[] = [{ at: 0, words: [] }];
  for (let length = 0; length <= LENGTH_MAX; length++) {
    for (const { at, words } of open) if (accepting.includes(at)) turns.add(words.join(' '));
    open = open.flatMap(({ at, words }) =>
      arcs.filter(({ from }) => from === at).map(({ word, to }) => ({ at: to, words: [...words, word] })),
    );
  }
  return turns;
}

/** The turns an expansion allows, by its definition. */
function meantBy(expansion: Expansion): Set<string> {
  const joined = (left: Set<string>, right: Set<string>): Set<string> =>
    new Set(
      [...left]
        .flatMap((a) => [...right].map((b) => `${a} ${b}`.trim()))
        .filter((turn) => turn.split(' ').length <= LENGTH_MAX),
    );
  switch (expansion.kind) {
    case 'word':
      return new Set([expansion.word]);
    case 'rule':
      throw new Error('Written out before.');
    case 'sequence':
      return expansion.parts.map(meantBy).reduce(joined);
    case 'alternatives':
      return new Set(expansion.parts.flatMap((part) => [...meantBy(part)]));
    case 'times': {
      const once = meantBy(expansion.part);
      let all = expansion.times === '+' ? new Set(once) : new Set(['', ...once]);
      if (expansion.times === '?') return all;
      for (let more = 1; more < LENGTH_MAX; more++) all = new Set([...all, ...joined(all, once)]);
      return all;
    }
  }
}

const { expansion: expansions } = fc.letrec<{ expansion: Expansion }>((tie) => ({
  expansion: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'expansion' },
    fc.constantFrom('a', 'b', 'c').map((word): Expansion => ({ kind: 'word', word })),
    fc.array(tie('expansion'), { minLength: 1, maxLength: 3 }).map((parts): Expansion => ({ kind: 'sequence', parts })),
    fc
      .array(tie('expansion'), { minLength: 1, maxLength: 3 })
      .map((parts): Expansion => ({ kind: 'alternatives', parts })),
    fc
      .tuple(fc.constantFrom('?', '*', '+'), tie('expansion'))
      .map(([times, part]): Expansion => ({ kind: 'times', times: times as '?', part })),
  ),
}));

test('allows exactly the turns of its grammar, with one arc per word', () => {
  fc.assert(
    fc.property(expansions, (expansion) => {
      const automaton = automatonOf(expansion);
      expect([...allowedBy(automaton)].sort()).toEqual([...meantBy(expansion)].sort());
      expect(new Set(automaton.arcs.map(({ from, word }) => `${from} ${word}`)).size).toBe(automaton.arcs.length);
    }),
    { numRuns: 300 },
  );
});

test('states from which the same may follow are one', () => {
  const { states, arcs } = automatonOf(readGrammar('#JSGF V1.0; grammar g; public <a> = (a | b) (c | d) | e (c | d);'));
  expect([states, arcs.length]).toEqual([3, 5]);
});

test.each([
  [
    'rules, groups, optional and repeated parts',
    '<b> = x;public <a> = [a] (b | <b>) c+;',
    ['b c', 'x c', 'a b c', 'a x c', 'b c c', 'x c c', 'a b c c', 'a x c c', 'b c c c', 'x c c c'],
  ],
  ['several public rules', 'public <a> = a; public <b> = b;', ['a', 'b']],
  ['comments and tags', '// one\n/* two\n;*/ public <a> = a {x;} /* 3 */ | b {\\}};', ['a', 'b']],
  ['capitals as small letters', 'public <a> = Éteins Radio;', ['éteins radio']],
  ['words with apostrophes, dots and hyphens', "public <a> = what's p.m. week-end;", ["what's p.m. week-end"]],
])('%s are read', (_what, rules, turns) => {
  const automaton = automatonOf(readGrammar(`#JSGF V1.0 UTF-8 en;\ngrammar test.g;\n${rules}`));
  expect([...allowedBy(automaton)].sort()).toEqual([...turns].sort());
});

describe('a grammar', () => {
  const compiler = new TaskCompiler();
  const check = (params: Record<string, string>, model = 'commands-en') =>
    compiler.compile(readQuery(queryFor(model, params)) as GrammarQuery);

  beforeAll(() => check({ grammar: '' }));

  test.each(REFUSED)('%s is refused, in a sentence', async (_name, grammar, message) => {
    const fault = await check({ grammar });
    expect(fault).toEqual({ param: 'grammar', message: expect.stringMatching(message) });
    expect('message' in fault && fault.message).toMatch(/^(?:[A-Z]|<).*\.$/s);
  });

  test.each(UNALIGNABLE)('rejects a text %s in one sentence', async (_name, text, message) => {
    const fault = await check({ align_text: text }, 'align-en');
    expect(fault).toEqual({ param: 'align_text', message: expect.stringMatching(message) });
  });

  test('lists every pronunciation of its words, numbered as the decoder does', async () => {
    const task = await check({ grammar: '#JSGF V1.0; grammar g; public <a> = read the;' });
    expect('pronunciations' in task && task.pronunciations.map(([word]) => word).sort()).toEqual([
      'read',
      'read(2)',
      'the',
      'the(2)',
    ]);
  });

  test('joins French words with an apostrophe, and adds missing dictionary words', async () => {
    const task = await check({ align_text: 'Éteins l’ampoule aujourd’hui !' }, 'align-fr');
    expect('search' in task && task.search).toEqual({ kind: 'align', text: "éteins l'ampoule aujourd'hui" });
    const phones = 'pronunciations' in task ? new Map(task.pronunciations) : new Map();
    expect(phones.get("l'ampoule")).toMatch(/^ll an /);
    expect(await check({ align_text: "x'ampoule" }, 'align-fr')).toMatchObject({ message: /"x'ampoule"/ });
  });

  test('compiles only once', async () => {
    const grammar = '#JSGF V1.0; grammar g; public <a> = yes;';
    expect(await check({ grammar })).toBe(await check({ grammar }));
  });
});
