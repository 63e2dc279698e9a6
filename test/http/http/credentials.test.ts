// Which of the three places of a credential counts, what is answered to the client, and what is left out of logs.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRestCredential, readSocketCredential, stripCredential } from '../../../src/http/credentials.ts';

const KEY = 'sk_vox_abcDEF123';
const TOKEN = 'st_eyJ0.a-b_c';

/** What a handshake with these three offers is read as. */
function read(authorization: string | undefined, protocols: string | undefined, query = '') {
  const { method, credential, protocol, tellOnSocket } = readSocketCredential({ authorization, protocols, query });
  return [method, credential, protocol, tellOnSocket ? 'socket' : 'http'];
}

describe('a handshake', () => {
  test.each([
    ['with the header', `Bearer ${KEY}`, undefined, '', ['header', KEY, undefined, 'http']],
    ['with the header in other letters', `bEARER   ${TOKEN} `, undefined, '', ['header', TOKEN, undefined, 'http']],
    ['with the subprotocol pair', undefined, `bearer, ${TOKEN}`, '', ['subprotocol', TOKEN, 'bearer', 'socket']],
    ['with the pair and no space', undefined, `bearer,${KEY}`, '', ['subprotocol', KEY, 'bearer', 'socket']],
    [
      'with the pair in other letters, answered as spelled',
      undefined,
      `Bearer, ${KEY}`,
      '',
      ['subprotocol', KEY, 'Bearer', 'socket'],
    ],
    ['with the query', undefined, undefined, `model=a%2Fb&api_key=${KEY}`, ['query', KEY, undefined, 'socket']],
    ['with the query, escaped', undefined, undefined, 'api%5Fkey=sk%5Fvox', ['query', 'sk_vox', undefined, 'socket']],
    [
      'with another subprotocol and the query',
      undefined,
      'chat',
      `api_key=${KEY}`,
      ['query', KEY, undefined, 'socket'],
    ],
    ['with nothing', undefined, undefined, 'model=x', [undefined, undefined, undefined, 'http']],
    ['with another subprotocol only', undefined, 'chat, other', '', [undefined, undefined, undefined, 'http']],
  ])('%s is read as such', (_what, authorization, protocols, query, expected) => {
    expect(read(authorization, protocols, query)).toEqual(expected);
  });

  test.each([
    [
      'a bad header, a good pair and a good query',
      'Basic abc',
      `bearer, ${KEY}`,
      `api_key=${KEY}`,
      ['header', '', 'bearer', 'http'],
    ],
    ['an empty header and a good query', '', undefined, `api_key=${KEY}`, ['header', '', undefined, 'http']],
    ['`bearer` alone and a good query', undefined, 'bearer', `api_key=${KEY}`, ['subprotocol', '', 'bearer', 'socket']],
    ['an empty query value', undefined, undefined, 'api_key=', ['query', '', undefined, 'socket']],
    ['a broken escape in the query', undefined, undefined, 'api_key=%zz', ['query', '', undefined, 'socket']],
  ])('follows the first place that is used, with %s', (_what, authorization, protocols, query, expected) => {
    expect(read(authorization, protocols, query)).toEqual(expected);
  });

  test.each([
    'Bearer',
    'Bearer ',
    `Bearer ${KEY} ${KEY}`,
    `Bearer ${KEY}, Bearer other`,
    `Bearer${KEY}`,
    `${KEY}`,
    `Basic ${KEY}`,
    `Bearer a"b`,
    'Bearer ä',
  ])('finds no credential in the header `%s`', (authorization) => {
    expect([read(authorization, undefined)[1], readRestCredential(authorization)]).toEqual(['', '']);
  });

  test.each([
    `bearer, ${KEY}, more`,
    `chat, bearer, ${KEY}`,
    `${KEY}, bearer`,
    'bearer,',
    `bearer, ${KEY}, bearer, ${KEY}`,
    'bearer, bearer, x',
  ])('finds no credential in the offer `%s`, and still answers `bearer`', (protocols) => {
    expect(read(undefined, protocols)).toEqual(['subprotocol', '', 'bearer', 'socket']);
  });

  test('never throws, and never answers a subprotocol that is not `bearer`', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string(), { nil: undefined }),
        fc.option(fc.string(), { nil: undefined }),
        fc.string(),
        (authorization, protocols, query) => {
          const { protocol } = readSocketCredential({ authorization, protocols, query });
          expect([undefined, 'bearer']).toContain(protocol?.toLowerCase());
        },
      ),
    );
  });
});

test('REST takes the header, and nothing else', () => {
  expect([readRestCredential(`Bearer ${KEY}`), readRestCredential(undefined)]).toEqual([KEY, undefined]);
});

describe('stripCredential', () => {
  test.each([
    ['a=1&api_key=secret&b=2', 'a=1&b=2'],
    ['api_key=secret', ''],
    ['/v1/listen?api_key=secret', '/v1/listen'],
    ['wss://host/v1/listen?model=a%2Fb&api_key=secret', 'wss://host/v1/listen?model=a%2Fb'],
    ['/v1/listen?api%5fkey=secret&API_KEY=secret&x=1', '/v1/listen?x=1'],
    ['x=1;api_key=secret&y=%zz', 'y=%zz'],
    ['api%5Fkey=secret%zz', ''],
    ['/v1/models', '/v1/models'],
    ['', ''],
  ])('turns %s into %s', (text, expected) => {
    expect(stripCredential(text)).toBe(expected);
  });

  test('never lets through what is read as the credential', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('api_key', 'api%5Fkey', 'api%5fkey', 'model', ''), fc.string())),
        (pairs) => {
          const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
          expect(
            readSocketCredential({ authorization: undefined, protocols: undefined, query: stripCredential(query) })
              .method,
          ).toBe(undefined);
        },
      ),
    );
  });
});
