// What matters today: what needs attention, money, use, what is live, how the providers are, and what failed over.
import type { KeyView, ProviderKeyList } from '../../api/console/console.ts';
import type { Overview as OverviewAnswer } from '../../api/console/gateway.ts';
import type { Model, ModelList } from '../../api/models.ts';
import type { BalanceAnswer, SessionList, UsageList } from '../../api/usage.ts';
import { ActionButton } from '../controls/actions.tsx';
import { Badge, Notice, type Tone } from '../controls/notice.tsx';
import { Link, Loaded, Page } from '../controls/page.tsx';
import { DailyCosts } from '../controls/plots.tsx';
import { Figure, Money } from '../controls/values.tsx';
import { type Answer, isPasswordRequired, request, useAnswer } from '../data/api.ts';
import { ago, failoverText, length, reasonText, usd } from '../data/format.ts';
import { person, useUsed } from '../data/organisation.ts';
import { SessionTable } from './sessions/session-table.tsx';

const EVERY_MS = 15_000;
const MODELS_EVERY_MS = 30_000;
const DAYS = 14;
const DAY_MS = 86_400_000;

export function Overview() {
  const today = new Date().toISOString().slice(0, 10);
  const overview = useAnswer<OverviewAnswer>('overview', EVERY_MS);
  const usage = useAnswer<UsageList>(`usage?from=${today}&group_by=model`, EVERY_MS);
  const sessions = useAnswer<SessionList>('sessions?limit=5', EVERY_MS);
  return (
    <Page title="Overview" about="Today by UTC, and work in progress.">
      <Warnings creditIsLow={overview.value?.credit_is_low === true} />
      <FirstSteps />
      <dl class="figures">
        <Credit />
        <Figure title="Cost today" value={usage.value && <Money amount={usage.value.total.cost_usd} />} />
        <Figure title="Audio today" value={usage.value && length(usage.value.total.audio_seconds)} />
        <Figure title="Live now" value={overview.value && String(overview.value.live_sessions)} note="Over all nodes" />
        <Figure
          title="Failovers today"
          value={overview.value && String(overview.value.failovers.count)}
          note="Of sessions that have ended"
        />
      </dl>
      <LatestDays />
      <div class="columns">
        <Health failovers={overview.value?.failovers} />
        <Failovers of={overview} />
      </div>
      <section class="stack close">
        <div class="row apart">
          <h2>Newest sessions</h2>
          <Link to="/sessions">All sessions</Link>
        </div>
        <Loaded answer={sessions}>{({ data }) => <SessionTable sessions={data} />}</Loaded>
      </section>
    </Page>
  );
}

const REFUSED = new Set(['failing', 'disabled', 'rejected']);

/** What needs attention, each with what to do about it. */
function Warnings({ creditIsLow }: { creditIsLow: boolean }) {
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

/** The name of the key that the playground makes at its first use. */
const PLAYGROUND = 'Playground';

/** What new users do first; hidden once all is done. */
function FirstSteps() {
  const mayMint = person.value?.role !== 'read_only';
  const keys = useAnswer<{ data: readonly KeyView[] }>(mayMint ? 'keys' : undefined);
  if (keys.value === undefined) return null;
  const own = keys.value.data.filter(({ name }) => name !== PLAYGROUND);
  const isTried = own.length < keys.value.data.length;
  const steps = [
    {
      isDone: isTried,
      to: '/playground',
      title: 'Try the playground',
      about: 'Try a model with your voice.',
    },
    {
      isDone: own.length > 0,
      to: '/keys',
      title: 'Mint an API key',
      about: 'Your programs show it; it is shown to you once.',
    },
    {
      isDone: own.some(({ last_used_at }) => last_used_at !== null),
      to: '/docs',
      title: 'Make the first call',
      about: 'The playground has the code for it, in curl, TypeScript and Python.',
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <section class="card first-steps">
      <h2>First steps</h2>
      <ol class="plain-list">
        {steps.map(({ isDone, to, title, about }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <span class="check" aria-hidden="true">
              {isDone ? '✓' : ''}
            </span>
            <div>
              {to === '/docs' ? <a href={to}>{title}</a> : <Link to={to}>{title}</Link>}
              {isDone ? <span class="unseen"> (done)</span> : null}
              <p class="quiet small">{about}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Shown while the password was entered recently, and at a click otherwise. */
function Credit() {
  const balance = useAnswer<BalanceAnswer>('balance', EVERY_MS);
  if (isPasswordRequired(balance.error)) {
    return (
      <Figure
        title="Credit left"
        value={<ActionButton action={() => request('GET', 'balance').then(balance.reload)}>Show credit</ActionButton>}
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

function LatestDays() {
  const dates = Array.from({ length: DAYS }, (_, at) =>
    new Date(Date.now() - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
  const usage = useAnswer<UsageList>(`usage?from=${dates[0]}&group_by=day`);
  if (usage.value === undefined || usage.value.data.length === 0) return null;
  const { data, total } = usage.value;
  return (
    <section class="card">
      <div class="row apart">
        <h2>The last {DAYS} days</h2>
        <span class="row">
          <span class="quiet">{usd(total.cost_usd)} in all</span>
          <Link to="/usage">Usage and bills</Link>
        </span>
      </div>
      <DailyCosts label="Cost of each day" dates={dates} rows={data} />
    </section>
  );
}

interface Provider {
  name: string;
  troubled: readonly Model[];
  isDown: boolean;
}

/** The state of the providers, from the circuit breakers of this gateway and the failovers of the day. */
function Health({ failovers }: { failovers: OverviewAnswer['failovers'] | undefined }) {
  const models = useAnswer<ModelList>('models', MODELS_EVERY_MS);
  const used = useUsed('provider');
  return (
    <section class="card">
      <h2>Providers</h2>
      <Loaded answer={models}>
        {({ data }) => (
          <ul class="plain-list stack close">
            {providersOf(data).map((provider) => (
              <Line
                key={provider.name}
                provider={provider}
                failovers={failovers}
                isUsed={used?.has(provider.name) ?? true}
              />
            ))}
          </ul>
        )}
      </Loaded>
      <p class="quiet small">
        From the sessions and files on this gateway, for the models you can use. Unused providers are not probed.
      </p>
    </section>
  );
}

interface LineProps {
  provider: Provider;
  failovers: OverviewAnswer['failovers'] | undefined;
  isUsed: boolean;
}

function Line({ provider: { name, troubled, isDown }, failovers, isUsed }: LineProps) {
  const last = failovers?.newest.find(({ text }) => text.startsWith(`${name}/`));
  const [tone, state]: [Tone, string] = isDown
    ? ['bad', 'paused']
    : troubled.length > 0
      ? ['warn', 'failing']
      : isUsed || last !== undefined
        ? ['good', 'no failures']
        : ['quiet', 'not used yet'];
  return (
    <li>
      <div class="row apart">
        <strong>{name}</strong>
        <Badge tone={tone}>{state}</Badge>
      </div>
      {troubled.map(({ id, status }) => (
        <p key={id} class="small quiet">
          <code>{id}</code>{' '}
          {status === 'down' ? 'failed repeatedly and is paused for a while' : 'failed and is being tried again'}
        </p>
      ))}
      {last === undefined ? null : (
        <p class="small quiet">
          Last failure {ago(last.at)}: {reasonText(last.text.split(': ').at(-1) ?? '')}
        </p>
      )}
    </li>
  );
}

function providersOf(models: readonly Model[]): Provider[] {
  const usable = models.filter(({ available }) => available);
  return [...new Set(usable.map(({ owned_by }) => owned_by))].map((name) => {
    const own = usable.filter(({ owned_by }) => owned_by === name);
    const troubled = own.filter(({ status }) => status !== 'up');
    return { name, troubled, isDown: own.every(({ status }) => status === 'down') };
  });
}

/** The failovers of the day, each with a link to its session. */
function Failovers({ of }: { of: Answer<OverviewAnswer> }) {
  return (
    <section class="card">
      <h2>Failovers today</h2>
      <Loaded answer={of}>
        {({ failovers: { count, newest } }) =>
          newest.length === 0 ? (
            <p class="quiet">None. Where a model fails, a fallback takes over, and the session is listed here.</p>
          ) : (
            <>
              <ul class="plain-list stack close">
                {newest.map(({ session_id, at, text }) => (
                  <li key={`${session_id} ${at}`}>
                    <span>{failoverText(text)}</span>
                    <div class="row apart small">
                      <span class="quiet">{ago(at)}</span>
                      <Link to={`/sessions/${session_id}`}>What happened</Link>
                    </div>
                  </li>
                ))}
              </ul>
              {count > newest.length ? (
                <p class="quiet small">
                  The newest {newest.length} of {count}.
                </p>
              ) : null}
            </>
          )
        }
      </Loaded>
    </section>
  );
}
