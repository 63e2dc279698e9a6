// Official clients of other vendors, unmodified but for address and key, with models of every shape behind the gateway.
import { describe, expect, it } from 'vitest';
import { FULL } from '../failover/protocols.ts';
import { drivers } from './drivers/index.ts';
import { heardWrongly, startDialectRig } from './rig.ts';

const rig = startDialectRig();

describe.each(drivers.filter(({ live }) => live !== undefined))('$client', (driver) => {
  it.concurrent.each(FULL.map(({ slug }) => slug))('hears every sample once with %s', async (model) => {
    expect(await heardWrongly(rig, driver, model)).toEqual([]);
  });
});
