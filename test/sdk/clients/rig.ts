// What the suites of official clients share: a whole gateway on a socket with a simulated provider behind it, keys of every
// kind, and clients of one version of OpenAI's SDK.
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { CreatedKey } from '../../../src/accounts/keys/calls.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { numberedWav } from '../../clients/files.ts';
import { Upstream } from '../../clients/upstream.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

/** One version of the SDK; all are written against as if they were the oldest. */
export type Sdk = typeof import('openai');
type ClientOptions = NonNullable<ConstructorParameters<Sdk['OpenAI']>[0]>;

const BY = { type: 'operator', id: 'test' } as const;

export const FILE_BYTES_MAX = 1_500_000;
/** Larger files are handed on, or kept on disk. */
const MEMORY_BYTES_MAX = 262_144;

/** Keys that something is the matter with. */
interface Keys {
  /** Revoked. */
  revoked: CreatedKey;
  /** For live sessions alone. */
  listening: CreatedKey;
  /** For one model alone. */
  scripted: CreatedKey;
  /** 60 requests a minute. */
  limited: CreatedKey;
  /** Nothing may be spent in a day. */
  thrifty: CreatedKey;
  /** Of an organisation without credit. */
  broke: CreatedKey;
}

export class Rig {
  readonly sdk: Sdk;
  live!: LiveGateway;
  upstream!: Upstream;
  keys!: Keys;

  constructor(sdk: Sdk) {
    this.sdk = sdk;
  }

  /** A client as a user makes one, without retries where a test does not ask for them. */
  client(options: ClientOptions = {}): OpenAI {
    return new this.sdk.OpenAI({
      apiKey: this.live.key,
      baseURL: `${this.live.url}/v1`,
      maxRetries: 0,
      ...options,
    });
  }

  /** A WAV file that is as long as the simulated provider's script, and heard whole. */
  file(seconds = 4, name = 'speech.wav'): Promise<File> {
    return this.sdk.toFile(numberedWav(seconds), name, { type: 'audio/wav' }) as Promise<File>;
  }

  /** What the first key's organisation was charged for so far: each file once. */
  async charges(): Promise<number> {
    const response = await this.live.request('/v1/sessions?limit=100');
    const { data } = (await response.json()) as { data: { state: string; cost_usd: string }[] };
    return data.filter(({ cost_usd }) => Number(cost_usd) > 0).length;
  }
}

/** Starts everything before the tests of the file and stops it after them. */
export function startRig(sdk: Sdk): Rig {
  const rig = new Rig(sdk);
  beforeAll(async () => {
    rig.upstream = await Upstream.start();
    rig.live = await startLiveGateway({
      VOXGATE_OPENAI_URL: rig.upstream.url,
      OPENAI_API_KEY: 'sk-of-the-gateway',
      VOXGATE_FILE_BYTES_MAX: String(FILE_BYTES_MAX),
      VOXGATE_BATCH_MEMORY_BYTES_MAX: String(MEMORY_BYTES_MAX),
      VOXGATE_BREAKER_FAILURES_MAX: '1000',
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '6000',
    });
    rig.keys = await makeKeys(rig.live.directory);
  });
  afterEach(() => rig.upstream.reset());
  afterAll(() => rig.upstream.close());
  return rig;
}

async function makeKeys(directory: string): Promise<Keys> {
  const store = await openSqliteStore({ directory });
  const [first] = await store.listOrganisations();
  const broke = await store.createOrganisation('Without credit', 0n, BY);
  const make = (settings: Parameters<typeof store.createKey>[1], organisationId = first!.id) =>
    store.createKey(organisationId, settings, BY);
  const keys: Keys = {
    revoked: await make({}),
    listening: await make({ scopes: ['listen'] }),
    scripted: await make({ models: ['loopback/script'] }),
    limited: await make({ requestsPerMinuteMax: 60 }),
    thrifty: await make({ dailySpendMicroUsdMax: 0n }),
    broke: await make({}, broke.id),
  };
  await store.revokeKey(null, keys.revoked.key.id, BY);
  await store.close();
  return keys;
}

/** What a call is refused with; a call that is not refused fails the test. */
export async function refusalOf(call: PromiseLike<unknown>): Promise<InstanceType<Sdk['APIError']>> {
  const outcome = await Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome === undefined) throw new Error('The call was not refused.');
  return outcome as InstanceType<Sdk['APIError']>;
}
