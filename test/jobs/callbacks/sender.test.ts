// What sends the ends of jobs to the addresses that clients named, with a clock that stands: what is sent again and when, what a kill
// costs, and who waits for whom.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { apiError } from '../../../src/api/errors.ts';
import { preparedCallback } from '../../../src/compat/jobs/callback-post.ts';
import {
  CALLBACK_RETRY_MS,
  type CallbackEvent,
  CallbackSender,
  type CallbackSenderOptions,
} from '../../../src/jobs/callbacks/sender.ts';
import { JOB_LIMITS } from '../../../src/jobs/calls.ts';
import { JobRecords } from '../../../src/jobs/job-records.ts';
import type { Heard, JobCallback, ShownFile } from '../../../src/vendors/compat/jobs.ts';
import type { OutgoingRequest, PostOutcome } from '../../../src/webhooks/post.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { idle } from '../../webhooks/rig.ts';

const SECRET = new TextEncoder().encode('a secret of the gateway');
const FILE: ShownFile = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(0), fields: new Map() };
const HEARD = { transcription: { text: 'vox', duration: 3, language: 'english', words: [] } } as unknown as Heard;
const DONE = { type: 'done', heard: HEARD } as const;
const HOOK = 'https://a.example/hook?signed=1';

const opened: CallbackSender[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

const callbackTo = (url: string): JobCallback => ({
  url,
  param: 'webhook_url',
  method: 'POST',
  headers: [['X-A', 'b']],
});

function open(options: Partial<CallbackSenderOptions> = {}) {
  const direct = directStore();
  const { clock: wall, store } = direct;
  const clock = new SimulatedClock();
  const recordsWith = (secrets: { secret: Uint8Array; previousSecret?: Uint8Array }) =>
    new JobRecords({ store, ...secrets, node: 'node-a', nodeName: 'node-a' });
  const records = recordsWith({ secret: SECRET });
  const sent: OutgoingRequest[] = [];
  const events: CallbackEvent[] = [];
  /** By URL; 204 where nothing is said. */
  const answers = new Map<string, () => PostOutcome | Promise<PostOutcome>>();
  const send = async (request: OutgoingRequest) => {
    sent.push(request);
    return (await answers.get(request.url)?.()) ?? { status: 204 };
  };
  let preparing = 0;
  const start = ({ prepare = preparedCallback(records), ...more }: Partial<CallbackSenderOptions> = {}) => {
    const sender = new CallbackSender({
      ...{ store, send, clock, random: () => 0.5 },
      prepare: (callback) => {
        preparing++;
        return prepare(callback).finally(() => preparing--);
      },
      onEvent: (event) => events.push(event),
      ...options,
      ...more,
    });
    opened.push(sender);
    return sender;
  };
  /** What is unpacked in threads takes its time. */
  const calm = async () => {
    do await idle();
    while (preparing > 0);
    await idle();
  };
  const pass = async (ms: number) => {
    wall.nowMs += ms;
    clock.increment(ms);
    await calm();
  };
  const first = direct.customer();
  /** A job that is over. */
  const over = async (
    id: string,
    { urls = [HOOK], dialect = 'soniox', state = DONE as Parameters<JobRecords['finish']>[2], who = first } = {},
  ) => {
    const owner = { ...who, dialect };
    await records.create(owner, id, 'processing', { file: FILE, asked: {}, callbacks: urls.map(callbackTo) });
    await records.finish(owner, id, state);
    return owner;
  };
  return { ...direct, wall, calm, records, recordsWith, sent, events, answers, start, pass, first, over };
}

const bodies = (sent: readonly OutgoingRequest[]) => sent.map(({ body }) => JSON.parse(String(body)));

describe('the end of a job', () => {
  it('is sent within a second, in the shape of its dialect, with the headers that its client named', async () => {
    const { start, pass, over, sent, events } = open();
    start();
    await over('a');
    await over('b', { state: { type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') } });
    // No job had a callback before.
    await pass(5_000);
    expect(bodies(sent).sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      { id: 'a', status: 'completed' },
      { id: 'b', status: 'error' },
    ]);
    expect(sent[0]).toMatchObject({
      ...{ url: HOOK, method: 'POST' },
      headers: { 'X-A': 'b', 'Content-Type': 'application/json' },
    });
    expect(events).toEqual([1, 2].map(() => ({ type: 'attempt', outcome: 'delivered' })));
    await over('c');
    await pass(1_000);
    expect(sent).toHaveLength(3);
    await pass(JOB_LIMITS.keptMs);
    expect(sent).toHaveLength(3);
  });

  it('is sent at once by a sender that looks', async () => {
    const { start, over, sent, calm } = open();
    const sender = start();
    await calm();
    await over('a');
    sender.look();
    await calm();
    expect(sent).toHaveLength(1);
  });

  it.each<[string, PostOutcome]>([
    ['status 500', { status: 500 }],
    ['a redirect', { status: 302 }],
    ['a client error', { status: 404 }],
    ['no answer', { error: 'timeout' }],
    ['a name whose address became private', { error: 'address_not_allowed' }],
  ])('is tried again after %s, for sixteen hours, while its job is kept', async (_, answer) => {
    const { start, pass, over, sent, answers, events, ledger, wall } = open();
    answers.set(HOOK, () => answer);
    start();
    const owner = await over('a');
    await pass(5_000);
    const fromMs = wall.nowMs;
    for (const [index, waitMs] of CALLBACK_RETRY_MS.entries()) {
      expect(sent).toHaveLength(index + 1);
      await pass(waitMs - 1_000);
      expect(sent).toHaveLength(index + 1);
      await pass(2_000);
    }
    expect((wall.nowMs - fromMs) / 3_600_000).toBeCloseTo(15.7, 0);
    expect(ledger.findJob(owner, 'a')?.callbackStatus).toBe(answer.status ?? null);
    await pass(JOB_LIMITS.keptMs);
    expect([sent.length, events.at(-1)]).toEqual([
      CALLBACK_RETRY_MS.length + 1,
      { type: 'attempt', outcome: 'failed' },
    ]);
    expect(new Set(sent.map(({ body }) => String(body))).size).toBe(1);
  });

  it('is not tried again after 410', async () => {
    const { start, pass, over, sent, answers, events } = open();
    answers.set(HOOK, () => ({ status: 410 }));
    start();
    await over('a');
    await pass(5_000);
    await pass(JOB_LIMITS.keptMs);
    expect([sent.length, events]).toEqual([1, [{ type: 'attempt', outcome: 'gone' }]]);
  });

  it('is sent to each address, of which one that fails does not hold up the others', async () => {
    const { start, pass, over, sent, answers } = open();
    const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/'];
    answers.set(urls[0] as string, () => ({ status: 500 }));
    start();
    await over('a', { urls });
    await pass(5_000);
    await pass(6_000);
    const reached = sent.map(({ url }) => url);
    expect([reached.slice(0, urls.length).sort(), reached.slice(urls.length)]).toEqual([urls, [urls[0]]]);
  });

  it('is not sent any more once its job was deleted', async () => {
    const { start, pass, over, sent, answers, ledger } = open();
    answers.set(HOOK, () => ({ status: 500 }));
    start();
    const owner = await over('a');
    await pass(5_000);
    ledger.removeJob(owner, 'a');
    await pass(JOB_LIMITS.keptMs);
    expect(sent).toHaveLength(1);
  });

  it('is sent again after a kill between sending and recording', async () => {
    const { start, pass, over, sent, answers } = open();
    const sender = start();
    // It was sent, and the process ended before anything could be recorded.
    answers.set(HOOK, () => {
      sender.close();
      return { status: 200 };
    });
    await over('a');
    await pass(5_000);
    answers.clear();
    start();
    await pass(1_000);
    expect(sent).toHaveLength(1);
    await pass(30_000);
    await pass(1_000);
    expect(bodies(sent)).toEqual([1, 2].map(() => ({ id: 'a', status: 'completed' })));
  });

  it.each(['readDueCallbacks', 'takeCallback', 'recordCallback', 'findJob'] as const)(
    'is sent once the store answers again: %s',
    async (name) => {
      const { start, pass, over, sent, failing, events } = open();
      start();
      await over('a');
      failing.set(name, 'busy');
      await pass(5_000);
      // Once for each look.
      expect(events.filter(({ type }) => type === 'fault')).toHaveLength(1);
      failing.clear();
      await pass(31_000);
      await pass(5_000);
      expect(bodies(sent).at(-1)).toEqual({ id: 'a', status: 'completed' });
    },
  );

  it('is sent when the secret of the gateway was changed, and not when the former one is gone', async () => {
    const { start, pass, over, sent, recordsWith, events } = open();
    await over('a');
    const secret = new TextEncoder().encode('another secret of the gateway');
    const changed = start({ prepare: preparedCallback(recordsWith({ secret, previousSecret: SECRET })) });
    await pass(5_000);
    expect(sent).toHaveLength(1);
    changed.close();
    await over('b');
    start({ prepare: preparedCallback(recordsWith({ secret })) });
    await pass(5_000);
    expect([sent.length, events.filter(({ type }) => type === 'fault')]).toEqual([1, []]);
  });

  it('takes a job along that its client cannot ask for', async () => {
    const { start, pass, over, ledger, answers } = open();
    answers.set(HOOK, () => ({ status: 500 }));
    start();
    const owner = await over('a', { dialect: 'deepgram' });
    await pass(5_000);
    expect(ledger.findJob(owner, 'a')?.stage).toBe('done');
    answers.clear();
    await pass(6_000);
    expect(ledger.findJob(owner, 'a')).toBeUndefined();
  });

  it('is not in the database in plain text', async () => {
    const { over, database } = open();
    await over('a', { urls: ['https://a.example/5ec7e7'] });
    expect(Buffer.from(database.serialize()).includes('5ec7e7')).toBe(false);
  });
});

describe('receivers that hang', () => {
  const never = () => new Promise<PostOutcome>(() => {});

  it('hold up their own organisation alone, and that with a bounded number of attempts', async () => {
    const { start, pass, over, sent, answers, customer } = open();
    answers.set(HOOK, never);
    const sender = start();
    for (let job = 0; job < 30; job++) await over(`hang-${job}`);
    await pass(5_000);
    expect([sent.length, sender.inProgress]).toEqual([8, 8]);
    await over('honest', { urls: ['https://b.example/'], who: customer() });
    await pass(1_000);
    expect(sent.at(-1)?.url).toBe('https://b.example/');
  });

  it('leave every organisation its turn where all attempts are in use', async () => {
    const { start, pass, over, sent, answers, customer } = open({ bounds: { max: 4, perOrganisationMax: 2 } });
    let settle: ((outcome: PostOutcome) => void)[] = [];
    answers.set(HOOK, () => new Promise<PostOutcome>((resolve) => settle.push(resolve)));
    const others = [customer(), customer(), customer()];
    for (const who of others) for (let job = 0; job < 6; job++) await over(`${who.keyId}-${job}`.slice(-20), { who });
    await over('honest', { urls: ['https://b.example/'], who: customer() });
    start();
    await pass(5_000);
    for (let round = 0; round < 4 && !sent.some(({ url }) => url === 'https://b.example/'); round++) {
      const ended = settle;
      settle = [];
      for (const end of ended) end({ error: 'timeout' });
      await pass(1_000);
    }
    expect(sent.some(({ url }) => url === 'https://b.example/')).toBe(true);
  });

  it('of large transcripts are one at a time for an organisation, and few in all', async () => {
    const { start, pass, over, sent, answers, customer } = open({ bounds: { largeMax: 2 } });
    answers.set(HOOK, never);
    const text = Array.from({ length: 60_000 }, (_, at) => Math.sin(at).toString(36)).join(' ');
    const state = { type: 'done', heard: { transcription: { ...HEARD.transcription, text } } } as const;
    const others = [customer(), customer(), customer()];
    for (const [at, who] of others.entries())
      for (let job = 0; job < 2; job++) await over(`large-${at}-${job}`, { state, who });
    await over('small', { who: others[0] as (typeof others)[0] });
    start();
    await pass(5_000);
    expect(bodies(sent).map(({ id }) => id)).toHaveLength(3);
    expect(bodies(sent).filter(({ id }) => id === 'small')).toHaveLength(1);
  });
});
