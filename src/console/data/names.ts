// What ids stand for: keys, provider keys and members of the organisation, as far as the reader may see them.
import { signal } from '@preact/signals';
import type { KeyView } from '../../api/console/console.ts';
import type { ProviderKeyList } from '../../api/console/provider-keys.ts';
import type { MemberView } from '../../api/console/team.ts';
import { read } from './api.ts';
import { may, person } from './person.ts';

/** Between two reads: an id that stays unknown is requested no more often. */
const AGAIN_MS = 5_000;

const known = signal<ReadonlyMap<string, string>>(new Map());
let readFor: string | undefined;
let readAtMs = 0;

/** Undefined of an id that is not known, or not yet: who reads it in a component is drawn again when it is. */
export function nameOf(id: string): string | undefined {
  const name = known.value.get(id);
  const organisation = person.value?.organisation.id;
  if (organisation !== readFor || (name === undefined && Date.now() - readAtMs > AGAIN_MS)) {
    readFor = organisation;
    readAtMs = Date.now();
    void readNames().then((names) => {
      if (organisation === readFor) known.value = names;
    });
  }
  return name;
}

async function readNames(): Promise<ReadonlyMap<string, string>> {
  const list = <Entry>(path: string) =>
    read<{ data: Entry[] }>(path).then(
      ({ data }) => data,
      () => [],
    );
  const isDeveloper = may('developer');
  const [keys, providerKeys, members] = await Promise.all([
    isDeveloper ? list<KeyView>('keys') : [],
    isDeveloper ? list<ProviderKeyList['data'][number]>('provider-keys') : [],
    list<MemberView>('members'),
  ]);
  return new Map([
    ...(person.value?.organisations ?? []).map(({ id, name }) => [id, name] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
    ...providerKeys.map(({ id, name, provider }) => [id, `${name} (${provider})`] as const),
    ...members.map(({ id, email }) => [id, email] as const),
  ]);
}
