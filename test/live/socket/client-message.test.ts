// A client's text frames: decoded to the closed set of messages, or answered with what is accepted; never a throw.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeClientMessage } from '../../../src/live/socket/client-message.ts';

const decode = (text: string | Uint8Array) => decodeClientMessage(typeof text === 'string' ? Buffer.from(text) : text);
const padded = (bytes: number) => `{"type":"close"${' '.repeat(bytes - 16)}}`;

describe('a text frame', () => {
  it.each([
    ['{"type":"finalize"}', 'finalize'],
    ['{"type":"close"}', 'close'],
    ['{"type":"keepalive"}', 'keepalive'],
    [' \n{ "type" : "close" }\t', 'close'],
    ['{"\\u0074ype":"clos\\u0065"}', 'close'],
    ['{"type":"finalize","type":"close"}', 'close'],
    [padded(65_536), 'close'],
  ])('%.30s is taken as %s', (text, type) => {
    expect(decode(text)).toEqual({ message: { type } });
  });

  it.each<[string, string | Uint8Array, string | undefined]>([
    ['nothing', '', undefined],
    ['no JSON', 'close', undefined],
    ['cut JSON', '{"type":"close"', undefined],
    ['two messages', '{"type":"close"}{"type":"close"}', undefined],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), undefined],
    ['a byte order mark of UTF-16', Buffer.from('\ufeff{"type":"close"}', 'utf16le'), undefined],
    ['null', 'null', undefined],
    ['a number', '1', undefined],
    ['a string', '"close"', undefined],
    ['an array', '[{"type":"close"}]', undefined],
    ['deep nesting', '['.repeat(65_536), undefined],
    ['deep nesting that is whole', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, undefined],
    ['deep nesting inside', `{"type":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`, 'type'],
    ['an empty object', '{}', 'type'],
    ['an unknown type', '{"type":"end"}', 'type'],
    ['a start message', '{"type":"start","model":"loopback/script"}', 'type'],
    ['another case', '{"type":"Close"}', 'type'],
    ['a type of another type', '{"type":["close"]}', 'type'],
    ['no type but a prototype', '{"__proto__":{"type":"close"}}', 'type'],
    ['a member too many', '{"type":"close","code":1000}', 'type'],
    ['a prototype too many', '{"type":"close","__proto__":{}}', 'type'],
    ['a type that objects have', '{"type":"constructor"}', 'type'],
    ['the type behind a duplicate', '{"type":"close","type":"end"}', 'type'],
  ])('gets a list of what is accepted if it is %s', (_, text, param) => {
    const decoded = decode(text) as { fault: string; param?: string };
    expect(decoded.fault).toContain(
      '{"type":"finalize"}, {"type":"close"}, {"type":"keepalive"} and {"type":"configure", …} are accepted',
    );
    expect([decoded.fault.length < 300, decoded.param]).toEqual([true, param]);
  });

  it('decodes to a message or a fault for any bytes', () => {
    const kinds = ['finalize', 'close', 'keepalive'];
    const check = (text: string | Uint8Array) => {
      const decoded = decode(text);
      if ('message' in decoded) {
        expect(Object.keys(decoded.message)).toEqual(['type']);
        expect(kinds).toContain(decoded.message.type);
      } else expect(decoded.fault).toContain('are accepted');
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), check), { numRuns: 1_000 });
    fc.assert(fc.property(fc.json(), check), { numRuns: 1_000 });
    const member = fc.tuple(
      fc.constantFrom('type', 'x', '__proto__'),
      fc.oneof(fc.constantFrom(...kinds), fc.jsonValue()),
    );
    const object = fc
      .array(member, { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join()}}`);
    fc.assert(fc.property(object, check), { numRuns: 1_000 });
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('type');
  });
});
