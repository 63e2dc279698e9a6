// The contract of a service that finds names and addresses in texts: the gateway itself cannot.
import type { ServiceClass } from '../api/redaction.ts';
import type { Match } from './match.ts';

export interface AnalyzedText {
  text: string;
  /** As the request has it. */
  language: string | undefined;
  classes: readonly ServiceClass[];
  organisationId: string;
  signal: AbortSignal;
  /** How long each call may take; absent: as the settings say. */
  timeoutMs?: number;
}

export interface TextAnalyzer {
  /** Rejects where the service has not answered in time, or has not answered about this text. */
  find(asked: AnalyzedText): Promise<Match[]>;
}
