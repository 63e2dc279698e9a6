// Every dialect, told 10,000 messages and asked for 10,000 sessions that are nearly good; the default tier draws a part of them.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { ClientMessage } from '../../../../src/api/listen.ts';
import type { OutgoingEvent } from '../../../../src/api/listen-events.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { readListenQuery } from '../../../../src/live/socket/query.ts';
import type { Change, Conversation, Dialect, Step } from '../../../../src/vendors/compat/dialect.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { ERROR_SHAPES } from './error-shapes.ts';
import { EXAMPLES, type Example } from './examples.ts';
import { mutatedMessage, mutatedQuery } from './mutations.ts';

const COUNT = drawn(10_000);
/** Messages of one conversation; the next begins behind them. */
const TOGETHER = 20;
const STAMP = { sessionId: 'ses_fuzz', seq: 1, at: new Date(0) };

const endpoints = dialects.flatMap((dialect) =>
  Object.keys(dialect.live).map((path) => ({ name: `${dialect.name} ${path}`, dialect, path })),
);

const exampleOf = (dialect: Dialect, path: string): Example => {
  const example = EXAMPLES[dialect.name]?.[path];
  if (example === undefined) throw new Error(`examples.ts has no conversation of ${dialect.name} ${path}.`);
  return example;
};

function opened(dialect: Dialect, path: string, query: URLSearchParams): Conversation {
  const headers = new Map(Object.entries(exampleOf(dialect, path).headers ?? {}));
  const endpoint = dialect.live[path];
  if (endpoint === undefined) throw new Error(`${dialect.name} has no endpoint at ${path}.`);
  return endpoint.open({ query, headers, requestId: 'req_fuzz' });
}

const said = (texts: readonly string[]): void => {
  for (const text of texts) expect(typeof JSON.parse(text)).toBe('object');
};

/** In the vendor's own shape, member by member. */
function saidWrong(texts: readonly string[], { name }: Dialect): void {
  for (const text of texts) {
    const message: unknown = JSON.parse(text);
    if (!ERROR_SHAPES[name]?.told.some((shape) => Value.Check(shape, message))) expect.fail(`${name} knows no ${text}`);
  }
}

/** A step that the gateway can follow. A request may be refused, in a sentence. */
function checkStep(step: Step, dialect: Dialect): void {
  if (step.type === 'audio') expect(step.bytes).toBeInstanceOf(Uint8Array);
  else if (step.type === 'tell') expect(Value.Check(ClientMessage, step.message)).toBe(true);
  else if (step.type === 'say') said([step.text]);
  else if (step.type === 'fault') expect(step.message).toMatch(/\.$/);
  else if (step.type === 'later') for (const each of step.steps()) checkStep(each, dialect);
  else if (step.type === 'refuse') expect(step.refusal).toBeInstanceOf(ApiError);
  else if (step.type === 'change') checkChange(step.change, dialect);
  else refusedOrRead(() => readListenQuery(parametersFor(dialect, step.request, {})));
}

/** Asked for twice it is the same, and whatever comes of it is told in the vendor's own shape. */
function checkChange(change: Change, dialect: Dialect): void {
  let isGood = false;
  refusedOrRead(() => {
    expect(change.request()).toEqual(change.request());
    readListenQuery(parametersFor(dialect, change.request(), {}));
    isGood = true;
  });
  if (isGood) {
    change.taken();
    said(change.inForce());
  } else saidWrong(change.refused(apiError('invalid_request', 'The change is none.')), dialect);
}

function refusedOrRead(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
  }
}

/** Of the conversation as it is: what went wrong is told in the vendor's own shape. */
function checkError(conversation: Conversation, dialect: Dialect): void {
  const error = apiError('invalid_request', 'The message is none.').body('req_fuzz');
  const told = conversation.encode({ type: 'error', error } as OutgoingEvent, STAMP);
  // Carriers of calls have no word for it: it is told to those who hear the call.
  if (dialect.provider !== undefined) expect(told.length).toBeGreaterThan(0);
  saidWrong(told, dialect);
  for (const code of ['invalid_request', 'invalid_api_key', 'rate_limit_exceeded', 'internal_error'] as const)
    saidWrong(conversation.refused(apiError(code, 'The message is none.')).messages, dialect);
}

function chat(dialect: Dialect, path: string, random: Random): void {
  const { query, messages } = exampleOf(dialect, path);
  const conversation = opened(dialect, path, new URLSearchParams(query));
  said(conversation.greeting ?? []);
  for (let count = 0; count < TOGETHER; count++) {
    const good = random.pick(messages);
    const message = random.next() < 0.2 ? good : mutatedMessage(good, random);
    const steps =
      random.next() < 0.1 ? conversation.binary(new Uint8Array(random.integer(0, 9))) : conversation.text(message);
    for (const step of steps) checkStep(step, dialect);
  }
  checkError(conversation, dialect);
}

describe.each(endpoints)('$name', ({ dialect, path }) => {
  it(`answers each of ${COUNT} nearly valid messages in its own format`, () => {
    const random = seeded(18);
    for (let told = 0; told < COUNT; told += TOGETHER) chat(dialect, path, random);
  });

  it(`answers or refuses each of ${COUNT} nearly valid sessions`, () => {
    const random = seeded(19);
    const { query } = exampleOf(dialect, path);
    for (let asked = 0; asked < COUNT; asked++) {
      refusedOrRead(() => {
        const { request } = opened(dialect, path, mutatedQuery(query, random));
        if (request !== undefined) readListenQuery(parametersFor(dialect, request, {}));
      });
    }
  });

  it('refuses in its own shape over HTTP', () => {
    const { status, body } = dialect.refusal(apiError('missing_credential', 'No credential was given.'), 'req_fuzz');
    expect(status).toBe(401);
    expect(Value.Check(ERROR_SHAPES[dialect.name]?.http as TSchema, JSON.parse(body))).toBe(true);
    expect(body).toContain('No credential was given.');
  });
});
