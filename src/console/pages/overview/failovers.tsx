// The failovers of the day, each with the session that it was in.
import type { Overview } from '../../../api/console/overview.ts';
import { Link } from '../../controls/link.tsx';
import { Shown } from '../../controls/page.tsx';
import type { Answer } from '../../data/answer.ts';
import { ago } from '../../data/format.ts';
import { failoverText } from '../../data/reasons.ts';

export function Failovers({ of }: { of: Answer<Overview> }) {
  return (
    <section class="card">
      <h2>Failovers today</h2>
      <Shown answer={of}>
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
      </Shown>
    </section>
  );
}
