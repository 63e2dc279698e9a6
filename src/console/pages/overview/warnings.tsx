// What needs somebody, each with what to do about it.
import type { ProviderKeyList } from '../../../api/console/provider-keys.ts';
import { Link } from '../../controls/link.tsx';
import { Notice } from '../../controls/notice.tsx';
import { useAnswer } from '../../data/answer.ts';
import { person } from '../../data/person.ts';

const REFUSED = new Set(['failing', 'disabled', 'rejected']);

export function Warnings({ creditIsLow }: { creditIsLow: boolean }) {
  const maySeeKeys = person.value?.role !== 'read_only';
  const keys = useAnswer<ProviderKeyList>(maySeeKeys ? 'provider-keys' : undefined);
  const bad = keys.value?.data.filter(({ state }) => REFUSED.has(state)) ?? [];
  return (
    <>
      {person.value?.email_verified === false ? (
        <Notice tone="warn">
          <p>
            Your e-mail address is not verified: keys and the playground wait for it. Open the link that was mailed to
            you, or ask for another in <Link to="/settings">Settings</Link>.
          </p>
        </Notice>
      ) : null}
      {creditIsLow ? (
        <Notice tone="warn">
          <p>
            The credit will soon be used up: less than a dollar, or less than the last day has cost. Without any,
            sessions are refused. See <Link to="/usage">Usage and bills</Link>.
          </p>
        </Notice>
      ) : null}
      {bad.map(({ id, provider, name, state }) => (
        <Notice tone="warn" key={id}>
          <p>
            The key “{name}” for {provider} is {state}. Test or replace it under{' '}
            <Link to="/provider-keys">Provider keys</Link>.
          </p>
        </Notice>
      ))}
    </>
  );
}
