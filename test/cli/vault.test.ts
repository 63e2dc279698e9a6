// `voxgate vault` as an operator meets it: which key seals what, a rotation, and a start with the wrong key.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { kekOf, loadKeyRing, open, seal } from '../../src/accounts/vault/key-ring.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { scriptEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { startVoxgate, voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;
const [A, B] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
const [KEK_A, KEK_B] = [A, B].map((text) => kekOf(Buffer.from(text, 'base64')).id);
const SECRET = 'canary-own-key-4711';

/** A data directory with one provider key, sealed with the key A. */
async function directoryWithKey(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const { id: organisationId } = await store.createOrganisation('Acme', 0n, BY);
  const ring = await loadKeyRing({ store, current: A, previous: undefined, directory });
  const binding = { id: 'pk_1', organisationId, provider: 'deepgram' };
  const sealed = seal(ring, binding, SECRET);
  await store.saveProviderKey(
    { ...binding, name: 'Ours', sealed, lastFour: '4711', fields: {}, check: 'accepted' },
    BY,
  );
  await store.close();
  return directory;
}

const on = (directory: string, current: string, previous?: string) => {
  const keys = previous === undefined ? {} : { VOXGATE_VAULT_KEY_PREVIOUS: previous };
  const env = { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_VAULT_KEY: current, ...keys };
  return async (...args: string[]) => {
    const outcome = await voxgate(args, env);
    for (const secret of [A, B, SECRET]) expect(outcome.output + outcome.errors).not.toContain(secret);
    return outcome;
  };
};

describe('voxgate vault put, list and remove', () => {
  /** Nobody listens there. */
  const NOWHERE = { VOXGATE_DEEPGRAM_URL: 'http://127.0.0.1:9' };

  it('keep a key for an organisation from a file or a pipe, show its end only, and take it away', async () => {
    const directory = temporaryDirectory();
    const env = { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_VAULT_KEY: A, ...NOWHERE };
    const seen: string[] = [];
    const run = async (...args: string[]) => {
      const outcome = await voxgate(args, env);
      seen.push(outcome.output, outcome.errors);
      return outcome;
    };
    const organisation = (await run('orgs', 'create', 'Acme', '--init')).output.trim();
    const file = join(directory, 'secret');
    writeFileSync(file, `${SECRET}\n`);
    const put = await run('vault', 'put', organisation, 'deepgram', '--name', 'ours', '--file', file);
    expect(put).toMatchObject({ code: 0, output: expect.stringMatching(/^pk_\S+\n$/) });

    const piped = startVoxgate(['vault', 'put', organisation, 'deepgram'], env);
    piped.stdin.end(JSON.stringify({ api_key: `${SECRET}-2` }));
    const [id, [code]] = await Promise.all([text(piped.stdout), once(piped, 'close')]);
    expect(code).toBe(0);

    const listed = JSON.parse((await run('vault', 'list', organisation, '--json')).output);
    expect(listed).toMatchObject([{ id: id.trim(), provider: 'deepgram', name: 'deepgram', lastFour: '11-2' }]);
    expect(await run('vault', 'remove', 'org_other', id.trim())).toMatchObject({ code: 1 });
    expect(await run('vault', 'remove', organisation, id.trim())).toMatchObject({ code: 0 });
    expect(JSON.parse((await run('vault', 'list', organisation, '--json')).output)).toEqual([]);
    for (const words of seen) expect(words).not.toContain(SECRET);
  });

  it('refuse a provider that there is not, an organisation that there is not, and a broken secret', async () => {
    const directory = await directoryWithKey();
    const file = join(directory, 'secret');
    writeFileSync(file, SECRET);
    const put = async (organisation: string, provider: string) => {
      const args = ['vault', 'put', organisation, provider, '--file', file];
      return voxgate(args, { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_VAULT_KEY: A, ...NOWHERE });
    };
    expect(await put('org_never', 'deepgram')).toMatchObject({ code: 1, errors: expect.stringContaining('org_never') });
    expect(await put('org_never', 'nobody')).toMatchObject({ code: 1, errors: expect.stringContaining('deepgram') });
    writeFileSync(file, `{"api_key": ${SECRET}`);
    const broken = await put('org_never', 'deepgram');
    expect([broken.code, broken.errors.includes(SECRET)]).toEqual([64, false]);
  });
});

describe('voxgate vault', () => {
  it('says what is under which key, rehearses a rotation, and does it', async () => {
    const directory = await directoryWithKey();
    const [before, both, after] = [on(directory, A), on(directory, B, A), on(directory, B)];
    expect((await before('vault', 'status')).output).toBe(
      `The current key of the vault is ${KEK_A}.\n1 provider keys are under ${KEK_A}.\n`,
    );
    expect(JSON.parse((await both('vault', 'status', '--json')).output)).toEqual({
      current: KEK_B,
      previous: KEK_A,
      keys: [{ kekId: KEK_A, keys: 1 }],
      toMove: 1,
    });
    expect(await both('vault', 'rotate', '--dry-run')).toMatchObject({
      code: 0,
      output: `1 provider keys would be moved to the key ${KEK_B}; 0 had it already.\n`,
    });
    expect((await before('vault', 'status')).code).toBe(0);
    expect((await both('vault', 'rotate')).output).toBe(
      `1 provider keys were moved to the key ${KEK_B}; 0 had it already.\n`,
    );
    expect((await after('vault', 'status')).code).toBe(0);
    const store = await openSqliteStore({ directory });
    const ring = await loadKeyRing({ store, current: B, previous: undefined, directory });
    expect((await store.listSealedProviderKeys()).map((row) => open(ring, row, row.sealed))).toEqual([SECRET]);
    await store.close();
  });

  it('ends with 78 and one sentence under the wrong key', async () => {
    const wrong = on(await directoryWithKey(), B);
    for (const args of [
      ['vault', 'status'],
      ['vault', 'rotate'],
    ]) {
      const { code, errors, output } = await wrong(...args);
      expect([code, output]).toEqual([78, '']);
      expect(errors).toMatch(new RegExp(`^voxgate: The vault was made with the key ${KEK_A}, [^\\n]+\\.\\n$`));
    }
  });
});

describe('voxgate vault test', () => {
  it('tries a kept key at its provider, and says what that makes of it', async () => {
    const simulator = simulators.find(({ provider }) => provider === 'deepgram');
    if (simulator === undefined) throw new Error('There is no simulator of Deepgram.');
    const server = await SimulatorServer.start({ simulator, ear: scriptEar() });
    const directory = temporaryDirectory();
    const env = {
      ...{ VOXGATE_DATA_DIRECTORY: directory, VOXGATE_VAULT_KEY: A },
      VOXGATE_DEEPGRAM_URL: server.url,
    };
    const run = (...args: string[]) => voxgate(args, env);
    const organisation = (await run('orgs', 'create', 'Acme', '--init')).output.trim();
    const file = join(directory, 'secret');
    writeFileSync(file, SECRET);
    const id = (await run('vault', 'put', organisation, 'deepgram', '--file', file)).output.trim();
    expect(await run('vault', 'test', organisation, id)).toEqual({
      code: 0,
      output: `deepgram accepts ${id}.\n`,
      errors: '',
    });
    await server.close();
    const unreached = await run('vault', 'test', organisation, id);
    expect([unreached.code, unreached.output, unreached.errors]).toEqual([
      1,
      '',
      expect.stringContaining('voxgate: Deepgram could not be asked'),
    ]);
    const refusing = await SimulatorServer.start({ simulator, ear: scriptEar(), faults: ['refuse=401'] });
    const refused = await voxgate(['vault', 'test', organisation, id], { ...env, VOXGATE_DEEPGRAM_URL: refusing.url });
    expect([refused.code, refused.errors]).toEqual([1, `voxgate: deepgram does not accept ${id}.\n`]);
    await refusing.close();
    const unknown = await run('vault', 'test', organisation, 'pk_unknown');
    expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining('no such provider key')]);
    for (const action of [
      ['list', 'org_unknown'],
      ['test', 'org_unknown', id],
    ])
      expect((await run('vault', ...action)).errors).toBe(
        'voxgate: there is no organisation org_unknown; voxgate orgs list shows them.\n',
      );
  });
});
