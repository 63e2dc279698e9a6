// How the providers are, as far as this gateway has met them: from its circuit breakers, and from the failovers of the day.
import type { Overview } from '../../../api/console/overview.ts';
import type { Model, ModelList } from '../../../api/models.ts';
import { Badge, type Tone } from '../../controls/notice.tsx';
import { Shown } from '../../controls/page.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ago } from '../../data/format.ts';
import { reasonText } from '../../data/reasons.ts';
import { useUsed } from '../../data/used.ts';

const EVERY_MS = 30_000;

interface Provider {
  name: string;
  troubled: readonly Model[];
  isDown: boolean;
}

export function Health({ failovers }: { failovers: Overview['failovers'] | undefined }) {
  const models = useAnswer<ModelList>('models', EVERY_MS);
  const used = useUsed('provider');
  return (
    <section class="card">
      <h2>Providers</h2>
      <Shown answer={models}>
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
      </Shown>
      <p class="quiet small">
        From the sessions and files on this gateway, for the models you can use. Unused providers are not probed.
      </p>
    </section>
  );
}

function Line({
  provider: { name, troubled, isDown },
  failovers,
  isUsed,
}: {
  provider: Provider;
  failovers: Overview['failovers'] | undefined;
  isUsed: boolean;
}) {
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
