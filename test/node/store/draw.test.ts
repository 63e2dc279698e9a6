// Random values are drawn before a call is queued, and only the hash of a key is sent with the call.
import { expect, test } from 'vitest';
import { parseKey } from '../../../src/accounts/keys/key-text.ts';
import { drawFor } from '../../../src/node/store/draw.ts';
import { applyCalls } from '../../../src/node/store/group-commit.ts';
import { CALL_NAMES, kindOf } from '../../../src/node/store/store.ts';
import { textOfPlain } from '../../../src/runtime/plain-data.ts';
import { OPERATOR, openTables } from '../../fakes/store/data-directory.ts';

const NOW_MS = Date.UTC(2026, 5, 15);

test.each(['bootstrap', 'createKey', 'rollKey'] as const)(
  '%s sends the hash of the key with the call, and its text to the caller only',
  (name) => {
    const { drawn, answered } = drawFor(name, NOW_MS);
    const { secret } = answered({}) as { secret: string };
    expect(drawn?.key).toEqual(parseKey(secret));
    // The part that no list shows.
    expect(textOfPlain(drawn)).not.toContain(secret.slice(11, -4));
    // Nothing was made.
    expect(answered(undefined)).toBeUndefined();
  },
);

test('draws new ids for each call, and only for calls that write', () => {
  const drawing = CALL_NAMES.filter((name) => drawFor(name, NOW_MS).drawn !== undefined);
  expect(drawing.filter((name) => kindOf(name) !== 'writes')).toEqual([]);
  const ids = drawing.flatMap((name) =>
    [drawFor(name, NOW_MS), drawFor(name, NOW_MS)].flatMap(({ drawn }) => drawn!.ids),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('makes the same rows from one call on two databases', () => {
  const { drawn } = drawFor('createOrganisation', NOW_MS);
  const call = { id: 1, name: 'createOrganisation', args: ['Acme', null, OPERATOR], drawn: drawn! } as const;
  const made = [openTables(), openTables()].map(({ target, tables }) => {
    applyCalls(target, { nowMs: NOW_MS, calls: [call] });
    return tables.listOrganisations();
  });
  expect(made[0]).toMatchObject([{ id: `org_${drawn!.ids[0]}` }]);
  expect(made[1]).toEqual(made[0]);
});

test('refuses a call without its drawn ids', () => {
  const { target, tables } = openTables();
  const call = { id: 1, name: 'createOrganisation', args: ['Acme', null, OPERATOR] } as const;
  expect(applyCalls(target, { nowMs: NOW_MS, calls: [call] })).toMatchObject([{ rejection: { reason: 'failed' } }]);
  expect(tables.listOrganisations()).toEqual([]);
});
