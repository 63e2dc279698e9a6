// Client secrets of the simulated Realtime API. A secret carries its session and its end in itself: nothing is remembered.
import { objectOf } from '../../refusals.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { refuse } from './refusals.ts';
import { freshSettings, type SessionSettings, updated } from './session.ts';

const PREFIX = 'ek_';
const SECONDS = { min: 10, max: 7_200, usual: 600 };

/** `POST /v1/realtime/client_secrets`. Times are those of the simulator's clock, which is no wall clock. */
export function writeSecret({ body }: SimulatedRequest, tools: SimulatorTools): SimulatedAnswer {
  const { session, expires_after: expiry } = objectOf(Buffer.from(body).toString('utf8'));
  const { seconds = SECONDS.usual } = (typeof expiry === 'object' && expiry !== null ? expiry : {}) as {
    seconds?: unknown;
  };
  if (typeof seconds !== 'number' || !(seconds >= SECONDS.min && seconds <= SECONDS.max)) {
    const message = `Expected seconds between ${SECONDS.min} and ${SECONDS.max}.`;
    return refuse({ status: 400, code: 'invalid_value', param: 'expires_after.seconds', message });
  }
  const settings = updated(freshSettings(tools.newId()), session);
  if ('fault' in settings) {
    const { code, message, param } = settings.fault;
    return refuse({ status: 400, code, message, ...(param === null ? {} : { param }) });
  }
  const expiresAt = Math.floor(tools.clock.now() / 1000) + seconds;
  const content = JSON.stringify({ settings, expiresAt });
  const value = PREFIX + Buffer.from(content).toString('base64url');
  return { status: 200, body: { value, expires_at: expiresAt, session: settings.session } };
}

/** The session of a secret; undefined for what is no secret, or has expired. */
export function readSecret(key: string, tools: SimulatorTools): SessionSettings | undefined {
  if (!key.startsWith(PREFIX)) return undefined;
  const content = objectOf(Buffer.from(key.slice(PREFIX.length), 'base64url').toString('utf8'));
  const { settings, expiresAt } = content as { settings?: SessionSettings; expiresAt?: unknown };
  return typeof expiresAt === 'number' && tools.clock.now() < expiresAt * 1000 ? settings : undefined;
}
