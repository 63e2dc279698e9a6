// The header that says what was not honoured: safe to send and short, whatever the codes of providers are.
import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { warningsOf } from '../../../src/files/answers.ts';
import { warningHeader } from '../../../src/files/routes/answer.ts';

const warning = (code: string) => ({ code, message: `${code}.` });

it('stays out without a warning, and lists codes in order', () => {
  expect(warningHeader([])).toEqual({});
  expect(warningHeader([warning('b'), warning('a'), warning('b')])).toEqual({ 'Voxgate-Warning': 'b, a, b' });
});

it('names the parameter that each is about, quoted where a token may not have its characters', () => {
  const warnings = [
    { ...warning('parameter_ignored'), param: 'summarize' },
    { ...warning('parameter_ignored'), param: 'timestamp_granularities[]' },
    { ...warning('parameter_mapped'), param: 'a"b, c;d' },
    { ...warning('empty_result'), param: '' },
  ];
  expect(warningHeader(warnings)).toEqual({
    'Voxgate-Warning':
      'parameter_ignored;param=summarize, parameter_ignored;param="timestamp_granularities[]", parameter_mapped;param=a_b__c_d, empty_result',
  });
});

it('stays printable ASCII of at most 1 KiB for any codes', () => {
  const code = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom('a\r\nSet-Cookie: b', '', 'ü'));
  fc.assert(
    fc.property(fc.array(code, { maxLength: 400 }), (codes) => {
      const { 'Voxgate-Warning': value = '' } = warningHeader(codes.map((each) => ({ ...warning(each), param: each })));
      const entry = String.raw`[\w.-]+(?:;param=(?:[\w.-]+|"[\w.[\]-]+"))?`;
      expect(value).toMatch(new RegExp(`^(?:${entry}(?:, ${entry})*)?$`));
      expect(value.length).toBeLessThanOrEqual(1_024);
      validateHeaderValue('Voxgate-Warning', value);
      expect(value === '').toBe(codes.every((each) => each === ''));
    }),
    { seed: 20_264 },
  );
});

it('says that there are more, where there is no room for all', () => {
  const codes = Array.from({ length: 300 }, (_, index) => warning(`code_${index}`));
  const { 'Voxgate-Warning': value = '' } = warningHeader(codes);
  expect(value).toMatch(/^code_0, code_1, .*, more_warnings$/);
});

it('accompanies the full warnings: code, message and param', () => {
  expect(warningsOf([])).toEqual({});
  const own = { ...warning('a'), param: 'x', internal: 1 };
  expect(warningsOf([own])).toEqual({ warnings: [{ code: 'a', message: 'a.', param: 'x' }] });
});
