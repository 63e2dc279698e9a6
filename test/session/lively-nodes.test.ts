// Which node a session asks whose leg has gone silent: one that was heard just now, and never the silent one.
import { describe, expect, it } from 'vitest';
import { LivelyNodes } from '../../src/session/lively-nodes.ts';

describe('lively nodes', () => {
  it('names the one that was heard last, but for the silent one, those that are gone and those heard too long ago', () => {
    const nodes = new LivelyNodes();
    for (const [node, atMs] of [
      ['a', 0],
      ['b', 900],
      ['c', 1_500],
      ['d', 1_600],
    ] as const)
      nodes.heard(node, atMs);
    expect(nodes.other('x', 1_700)).toBe('d');
    expect(nodes.other('d', 1_700)).toBe('c');
    nodes.gone('c');
    expect(nodes.other('d', 1_700)).toBe('b');
    expect(nodes.other('d', 1_901)).toBeUndefined();
  });

  it('remembers 256 at most: the one that was heard longest ago makes room', () => {
    const nodes = new LivelyNodes();
    nodes.heard('first', 1);
    for (let node = 0; node < 255; node++) nodes.heard(`node${node}`, 0);
    nodes.heard('last', 2);
    expect(nodes.other('last', 3)).toBe('first');
    expect((Reflect.get(nodes, 'heardAtMs') as Map<string, number>).size).toBe(256);
  });
});
