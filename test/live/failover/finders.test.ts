// Who finds names and addresses: a service, every model of the request, or no one, and then the request is refused.
import { expect, it } from 'vitest';
import { redactedWith, requireFinders } from '../../../src/live/failover/finders.ts';
import type { Told } from '../../../src/vendors/kit/vocabulary/mapping.ts';

const SERVICE = { analyzer: { find: async () => [] } };
const member = (slug: string, ...told: Told[]) => ({ slug, told });
const redacting = member('a/a', { param: 'redact', outcome: 'honoured', taken: ['pii'] });

it('leaves names to models of which every one redacts personal data, as requested', () => {
  expect(() => requireFinders({}, ['name', 'card'], [redacting])).not.toThrow();
  expect(redactedWith({}, ['name', 'card'], { redact: ['name', 'pii'] })).toEqual(['card']);
  expect(redactedWith({}, ['name'], undefined)).toBeUndefined();
});

it.each([
  ['was not requested to', member('b/b')],
  ['cannot', member('b/b', { param: 'redact', outcome: 'dropped', message: 'It cannot.' })],
  [
    'redacts cards only',
    member('b/b', { param: 'redact', outcome: 'mapped', isCut: true, message: '', taken: ['pci'] }),
  ],
])('refuses names where a model %s, and says what to do', (_, other) => {
  expect(() => requireFinders({}, ['name', 'address'], [redacting, other])).toThrow(
    /`name` and `address`.*b\/b.*VOXGATE_REDACTION_URL.*`pii`/,
  );
});

it('refuses nothing without names, and nothing where there is a service', () => {
  expect(() => requireFinders({}, undefined, [member('b/b')])).not.toThrow();
  expect(() => requireFinders({}, ['card'], [member('b/b')])).not.toThrow();
  expect(() => requireFinders(SERVICE, ['name'], [member('b/b')])).not.toThrow();
});

it('includes names and addresses in `pii` where there is a service', () => {
  expect(redactedWith(SERVICE, ['card'], { redact: ['pii'] })).toEqual(['card', 'name', 'address']);
  expect(redactedWith(SERVICE, ['card'], { redact: ['pci'] })).toEqual(['card']);
  expect(redactedWith({}, ['card'], { redact: ['pii'] })).toEqual(['card']);
});
