// Tables of the command line, in a pipe and on terminals of any width.
import { describe, expect, it } from 'vitest';
import { tableLines } from '../../src/cli/shared/output.ts';

const KEYS = [
  ['ID', 'NAME', 'ORGANISATION', 'LAST USED'],
  ['key_01a22065-e4b7-7929-9f1a-48e56221f5d7', 'First key', 'org_01a22065-e4b5-77db-959b-c3a196634187', '-'],
  ['key_01a22065-e4b7-7929-9f1a-48e56221f5d8', '', 'org_01a22065-e4b5-77db-959b-c3a196634187', 'today'],
];
const FAULTS = [
  ['FAULT', 'WHAT HAPPENS'],
  ['mute', 'it accepts the connection and never says a word, however long the client waits for one'],
  ['close-after=<audio>', 'it closes'],
];

describe('a table', () => {
  it('aligns columns where there is room, at any length in a pipe', () => {
    expect(tableLines(KEYS)[1]).toBe(
      'key_01a22065-e4b7-7929-9f1a-48e56221f5d7  First key  org_01a22065-e4b5-77db-959b-c3a196634187  -',
    );
    expect(
      tableLines(
        [
          ['A', 'B'],
          ['1', '22'],
        ],
        80,
      ),
    ).toEqual(['A  B', '1  22']);
  });

  it('folds a long last column below itself', () => {
    expect(tableLines(FAULTS, 60)).toEqual([
      'FAULT                WHAT HAPPENS',
      'mute                 it accepts the connection and never',
      '                     says a word, however long the client',
      '                     waits for one',
      'close-after=<audio>  it closes',
    ]);
  });

  it('shows each row as a block where nothing else fits, without empty cells', () => {
    expect(tableLines(KEYS, 80)).toEqual([
      'ID            key_01a22065-e4b7-7929-9f1a-48e56221f5d7',
      'NAME          First key',
      'ORGANISATION  org_01a22065-e4b5-77db-959b-c3a196634187',
      'LAST USED     -',
      '',
      'ID            key_01a22065-e4b7-7929-9f1a-48e56221f5d8',
      'ORGANISATION  org_01a22065-e4b5-77db-959b-c3a196634187',
      'LAST USED     today',
    ]);
  });

  it('stays within a terminal of 80 characters', () => {
    for (const rows of [KEYS, FAULTS])
      for (const line of tableLines(rows, 80)) expect(line.length).toBeLessThanOrEqual(80);
  });
});
