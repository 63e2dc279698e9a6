// Client secrets of the simulated Realtime API: keys for browsers that carry a session, and expire.

import { objectOf } from '../../kit/json.ts';
import { invalid, refuse } from '../../kit/simulator/openai-refusals.ts';
import { Remembered } from '../../kit/simulator/routes.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { freshSettings, type SessionSettings, updated } from './session.ts';

const SECONDS = { min: 10, max: 7_200, usual: 600 };

interface Secret {
  settings: SessionSettings;
  expiresAt: number;
}
const secretsOf = (tools: SimulatorTools) => tools.shared(() => new Remembered<Secret>());

/** `POST /v1/realtime/client_secrets`. Times are those of the simulator's clock, which is no wall clock. */
export function writeSecret({ body }: SimulatedRequest, tools: SimulatorTools): SimulatedAnswer {
  const { session, expires_after: expiry } = objectOf(Buffer.from(body).toString('utf8'));
  const { seconds = SECONDS.usual } = { ...(expiry as { seconds?: unknown } | undefined) };
  if (typeof seconds !== 'number' || !(seconds >= SECONDS.min && seconds <= SECONDS.max))
    return refuse(invalid('expires_after.seconds', `Expected seconds between ${SECONDS.min} and ${SECONDS.max}.`));
  const settings = updated(freshSettings(tools.newId()), session);
  if ('code' in settings) return refuse(settings);
  const expiresAt = Math.floor(tools.clock.now() / 1000) + seconds;
  const value = `ek_${tools.newId()}`;
  secretsOf(tools).set(value, { settings, expiresAt });
  return { status: 200, body: { value, expires_at: expiresAt, session: settings.session } };
}

/** The session of a secret; undefined for what is no secret, or has expired. */
export function readSecret(key: string, tools: SimulatorTools): SessionSettings | undefined {
  const secret = secretsOf(tools).get(key);
  return secret !== undefined && tools.clock.now() < secret.expiresAt * 1000 ? secret.settings : undefined;
}
