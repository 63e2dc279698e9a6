// Messages that a protocol fails at: they are faults of whoever sent them.

import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ProtocolAdapter } from '../../src/live/socket/protocol-session.ts';
import { ProtocolSession } from '../../src/live/socket/protocol-session.ts';
import type { Conversation, Step } from '../../src/vendors/compat/dialect.ts';
import { dialects } from '../../src/vendors/dialects.ts';
import { EXAMPLES } from '../vendors/compat/fuzz/examples.ts';

const bad = '{"toString":1,"valueOf":1}';
const deep = '['.repeat(30_000) + ']'.repeat(30_000);

function followed(conversation: Conversation) {
  const told: string[] = [];
  const note = (what: string) => () => void told.push(what);
  const taker = {
    ...{ audio: note('audio'), say: note('say'), refuse: note('refuse'), begin: note('begin'), read: () => {} },
    message: (decoded: object) => void told.push('fault' in decoded ? 'fault' : 'message'),
  };
  const changes = { open: () => {}, add: () => false };
  const steps = new ProtocolSession(
    { conversation, changes } as unknown as ProtocolAdapter,
    taker,
    new SimulatedClock(),
  );
  return { told, say: (text: string) => steps.take(Buffer.from(text), false, false) };
}

it('reports a throwing conversation as a fault, after its earlier steps', () => {
  const conversation = {
    *text(): Iterable<Step> {
      yield { type: 'say', text: 'one' };
      throw new TypeError('Cannot convert object to primitive value');
    },
  } as unknown as Conversation;
  const { told, say } = followed(conversation);
  say('{}');
  expect(told).toEqual(['say', 'fault']);
});

const endpoints = dialects.flatMap((dialect) =>
  Object.entries(dialect.live).map(([path, endpoint]) => ({
    name: `${dialect.name} ${path}`,
    dialect: dialect.name,
    path,
    endpoint,
  })),
);

it.each(endpoints)('$name throws at no value that is neither text nor number', ({ dialect, path, endpoint }) => {
  const example = EXAMPLES[dialect]?.[path];
  const handshake = {
    query: new URLSearchParams(example?.query),
    headers: new Map<string, string>(),
    requestId: 'req_1',
  };
  for (const message of example?.messages ?? [])
    for (const value of [bad, deep])
      for (const [, name] of String(message).matchAll(/"([\w-]+)":/g)) {
        const { say } = followed(endpoint.open(handshake));
        say(String(message).replace(new RegExp(`"${name}":("[^"]*"|[\\d.]+|true|false|null)`), `"${name}":${value}`));
      }
});
