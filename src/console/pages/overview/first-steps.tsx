// What somebody new does first; it is gone when all is done.
import type { KeyView } from '../../../api/console/console.ts';
import { Link } from '../../controls/link.tsx';
import { useAnswer } from '../../data/answer.ts';
import { person } from '../../data/person.ts';

const PLAYGROUND = 'Playground';

export function FirstSteps() {
  const mayMint = person.value?.role !== 'read_only';
  const keys = useAnswer<{ data: readonly KeyView[] }>(mayMint ? 'keys' : undefined);
  if (keys.value === undefined) return null;
  const own = keys.value.data.filter(({ name }) => name !== PLAYGROUND);
  // It is made at the first use.
  const isTried = own.length < keys.value.data.length;
  const steps = [
    {
      isDone: isTried,
      to: '/playground',
      title: 'Try the playground',
      about: 'Hear what a model makes of your voice.',
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
            <span class="tick" aria-hidden="true">
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
