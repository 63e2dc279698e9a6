// What an operator is told of a configuration: all of its faults at once, the name that was meant, and what is nobody's setting.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

const providers = ['local', 'my-asr'];
const catalogue = [{ models: [{ id: 'my-asr/one', modes: ['live' as const], pricing: { currency: 'USD' as const } }] }];

function refusal(env: Record<string, string>, file?: string): string {
  const readFile = () => {
    if (file === undefined) throw Object.assign(new Error('There is none.'), { code: 'ENOENT' });
    return file;
  };
  try {
    loadConfig(env, { providers, catalogue, readFile });
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('the nearest name', () => {
  test.each([
    ['VOXGATE_LOCAL_API_KEY', 'LOCAL_API_KEY'],
    ['VOXGATE_LOCL_API_KEY', 'LOCAL_API_KEY'],
    ['VOXGATE_MY_ASR_API_KEY', 'MY_ASR_API_KEY'],
    ['VOXGATE_LOCAL_URI', 'VOXGATE_LOCAL_URL'],
    ['VOXGATE_PROT', 'VOXGATE_PORT'],
    ['VOXGATE_DATA_DIR', 'VOXGATE_DATA_DIRECTORY'],
  ])('suggests, for %s, %s', (wrong, right) => {
    expect(refusal({ [wrong]: 'x' })).toContain(`the nearest name is ${right}.`);
  });
});

describe('the variables that Kubernetes sets for Services called voxgate and voxgate-…', () => {
  const ofService = (name: string) => ({
    [`${name}_SERVICE_HOST`]: '10.96.0.12',
    [`${name}_SERVICE_PORT`]: '8080',
    [`${name}_SERVICE_PORT_HTTP`]: '8080',
    [`${name}_PORT`]: 'tcp://10.96.0.12:8080',
    [`${name}_PORT_8080_TCP`]: 'tcp://10.96.0.12:8080',
    [`${name}_PORT_8080_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_8080_TCP_PORT`]: '8080',
    [`${name}_PORT_8080_TCP_ADDR`]: '10.96.0.12',
  });

  test('stays ignored, with one notice', () => {
    const notes: string[] = [];
    const env = { ...ofService('VOXGATE'), ...ofService('VOXGATE_NATS'), VOXGATE_DOOR: 'node' };
    const config = loadConfig(env, { providers, onNote: (note) => notes.push(note) });
    expect(config.server).toMatchObject({ port: 8080, door: 'node' });
    expect(notes).toEqual([expect.stringMatching(/^VOXGATE_SERVICE_HOST, .*VOXGATE_PORT, .*Kubernetes.*\.$/)]);
    notes.length = 0;
    loadConfig({ VOXGATE_PORT: '80' }, { providers, onNote: (note) => notes.push(note) });
    expect(notes).toEqual([]);
  });

  test('does not hide a port that is wrong', () => {
    expect(refusal({ VOXGATE_PORT: 'http://10.96.0.12:8080' })).toContain('VOXGATE_PORT');
    expect(refusal({ VOXGATE_SERVICE_HOSTS: 'x' })).toContain('VOXGATE_SERVICE_HOSTS');
  });
});

describe('faults of a configuration', () => {
  test('appear at once, from environment, file and single values, one a line', () => {
    const file = JSON.stringify({ server: { prt: 1, host: 'a b' }, nothing: {} });
    const env = { VOXGATE_CONFIG: 'v.json', VOXGATE_PROT: '1', VOXGATE_DOOR: 'bun', VOXGATE_SECRET: 'short' };
    const [head, ...faults] = refusal(env, file).split('\n');
    expect(head).toBe('6 settings cannot be used:');
    expect(faults).toHaveLength(6);
    for (const fault of faults) expect(fault).toMatch(/^ {2}\S.*\.$/);
    for (const name of ['VOXGATE_PROT', 'server.prt', 'nothing', 'VOXGATE_HOST', 'VOXGATE_DOOR', 'VOXGATE_SECRET']) {
      expect(faults.filter((fault) => fault.trim().replaceAll('"', '').startsWith(name))).toHaveLength(1);
    }
  });

  test('appear at once for related settings and files', () => {
    const env = { VOXGATE_TLS_CERT_FILE: 'c.pem', VOXGATE_NATS_USER: 'edge', VOXGATE_ROLES: 'edge' };
    expect(refusal(env).split('\n')).toHaveLength(5);
  });

  test('appear at once for a single value, related settings, files and prices', () => {
    const env = {
      VOXGATE_DOOR: 'bun',
      VOXGATE_NATS_USER: 'edge',
      VOXGATE_TLS_CERT_FILE: 'c.pem',
      VOXGATE_TLS_KEY_FILE: 'k.pem',
      VOXGATE_PRICES_FILE: 'prices.json',
    };
    const [head, ...faults] = refusal(env).split('\n');
    expect(head).toBe('5 settings cannot be used:');
    expect(faults.map((fault) => fault.trim().split(' ')[0])).toEqual([
      'VOXGATE_DOOR',
      'VOXGATE_NATS_PASSWORD',
      'VOXGATE_TLS_CERT_FILE',
      'VOXGATE_TLS_KEY_FILE',
      'VOXGATE_PRICES_FILE',
    ]);
    const [first, second] = refusal({ VOXGATE_DOOR: 'bun', VOXGATE_PRICES_FILE: 'p' }, '{"my-asr/two": {}}')
      .split('\n  ')
      .slice(1);
    expect(first).toContain('VOXGATE_DOOR');
    expect(second).toMatch(/^VOXGATE_PRICES_FILE .* there is no model "my-asr\/two"; the nearest is my-asr\/one\.$/);
  });

  test('appear once: an invalid value causes no further errors elsewhere', () => {
    expect(refusal({ VOXGATE_ROLES: 'edge', VOXGATE_NATS: 'http://127.0.0.1' })).toMatch(/^VOXGATE_NATS .*\.$/);
    expect(refusal({ VOXGATE_MARGIN_PERCENT: 'ten', VOXGATE_PRICES_FILE: 'p' })).toMatch(
      /^VOXGATE_MARGIN_PERCENT .*\.$/,
    );
    expect(refusal({ VOXGATE_CONFIG: 'v.json', VOXGATE_NATS_USER: 'edge' })).toMatch(/^VOXGATE_CONFIG .*\.$/);
  });
});
