// What the simulated Gladia knows beyond one request: sessions that were asked for, uploads and jobs. And how it says that a request
// is wrong.
import type { ValueFault } from '../../kit/simulator/checks.ts';
import { FileJobs } from '../../kit/simulator/jobs.ts';
import { Remembered } from '../../kit/simulator/routes.ts';
import type { SimulatedAnswer } from '../../simulation.ts';

/** What a session was asked for with. */
export interface AskedSession {
  id: string;
  sampleRate: number;
  language: string | undefined;
  sendsPartials: boolean;
  sendsSpeech: boolean;
  acknowledges: boolean;
  sendsLifecycle: boolean;
}

export class Account extends FileJobs {
  /** By their tokens. */
  readonly sessions = new Remembered<AskedSession>();
}

export const invalid = ({ member, message }: Pick<ValueFault, 'member' | 'message'>): SimulatedAnswer => ({
  status: 400,
  body: { statusCode: 400, message: 'Invalid parameter(s).', validation_errors: [`${member}: ${message}`] },
});
