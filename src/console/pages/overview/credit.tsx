// What the organisation has left to spend: shown while the password was given lately, and at a click otherwise.
import type { BalanceAnswer } from '../../../api/usage.ts';
import { Act } from '../../controls/act.tsx';
import { Figure } from '../../controls/figure.tsx';
import { Money } from '../../controls/values/money.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask, isPasswordWanted } from '../../data/api.ts';
import { usd } from '../../data/format.ts';

const EVERY_MS = 15_000;

export function Credit() {
  const balance = useAnswer<BalanceAnswer>('balance', EVERY_MS);
  if (isPasswordWanted(balance.refused)) {
    return (
      <Figure
        title="Credit left"
        value={<Act act={() => ask('GET', 'balance').then(balance.reload)}>Show credit</Act>}
        note="Asks for your password"
      />
    );
  }
  const held = balance.value && `${usd(balance.value.held_usd)} held for work in progress`;
  return <Figure title="Credit left" value={creditOf(balance.value)} note={held} />;
}

function creditOf(balance: BalanceAnswer | undefined) {
  if (balance === undefined) return undefined;
  return balance.available_usd === null ? 'no limit' : <Money amount={balance.available_usd} />;
}
