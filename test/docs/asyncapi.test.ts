// `/asyncapi.json` says what `/v1/listen` does, and nothing else: messages, parameters and close codes, in both directions.
import { expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { ClientMessage } from '../../src/api/listen.ts';
import { ServerEvent } from '../../src/api/listen-events.ts';
import { ListenQuery } from '../../src/api/request-parameters.ts';
import { closeCodes } from '../../src/docs/asyncapi.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

interface Document {
  channels: {
    listen: {
      bindings: { ws: { query: { properties: object; required: string[] } } };
      'x-close-codes': { close: number; codes: string[] }[];
    };
  };
  operations: Record<'send' | 'receive', { messages: { $ref: string }[] }>;
  components: { messages: Record<string, { name: string }> };
}

const gateway = await startLiveGateway();
const document = (await (await fetch(`${gateway.url}/asyncapi.json`)).json()) as Document;
const { listen } = document.channels;

const typesOf = (action: 'send' | 'receive') =>
  document.operations[action].messages.map(
    ({ $ref }) => document.components.messages[$ref.slice($ref.lastIndexOf('/') + 1)]?.name,
  );

test('lists every event that a session may send, and no other', () => {
  expect(typesOf('send')).toEqual(ServerEvent.anyOf.map(({ properties }) => properties.type.const));
});

test('lists every message that a client may send, with audio, and no other', () => {
  expect(typesOf('receive')).toEqual([
    'audio',
    'start',
    ...ClientMessage.anyOf.map(({ properties }) => properties.type.const),
  ]);
});

test('lists every close code with its error codes, and no other', () => {
  const told = listen['x-close-codes'].flatMap(({ close, codes }) =>
    codes.length === 0 ? [`${close}`] : codes.map((code) => `${close} ${code}`),
  );
  const real = Object.entries(ERROR_CATALOGUE).flatMap(([code, { close }]) =>
    close === null ? [] : [`${close} ${code}`],
  );
  expect(told.sort()).toEqual(['1000', '1012', '1013', ...real].sort());
});

test('advises the same for all errors of a close code, and as its range says', () => {
  for (const { close, advice, codes } of closeCodes()) {
    expect(codes.map((code) => ERROR_CATALOGUE[code].advice)).toEqual(codes.map(() => advice));
    const range = { 40: 'stop', 41: 'back_off', 42: 'reconnect' }[Math.floor(close / 100)];
    if (range !== undefined) expect([close, advice]).toEqual([close, range]);
  }
});

test('lists every query parameter, and no other', () => {
  const { query } = listen.bindings.ws;
  expect(Object.keys(query.properties)).toEqual(Object.keys(ListenQuery.properties));
});
