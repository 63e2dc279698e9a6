// Every official client with every live protocol of the registry: what docs/reference/clients.md says.
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../../failover/protocols.ts';
import { drivers } from '../drivers/index.ts';
import { heardWrongly, startDialectRig } from '../rig.ts';

const rig = startDialectRig();
/** Sessions at a time: most of each is waiting for the pace of its provider. */
const TOGETHER = 8;

const live = drivers.filter((driver) => driver.live !== undefined);
const cells = live.flatMap((driver) => PROTOCOLS.map(({ slug }) => ({ driver, slug })));
const groups = Array.from({ length: Math.ceil(cells.length / TOGETHER) }, (_, at) =>
  cells.slice(at * TOGETHER, (at + 1) * TOGETHER),
);

describe('every client hears every sample once, with every model', () => {
  it.each(groups.map((group, at) => [at + 1, group] as const))('group %d', { timeout: 60_000 }, async (_, group) => {
    const heard = group.map(async ({ driver, slug }) =>
      (await heardWrongly(rig, driver, [slug])).map((problem) => `${driver.client} with ${slug}: ${problem}`),
    );
    expect((await Promise.all(heard)).flat()).toEqual([]);
  });
});
