// A stream of the voice detector: what everything that looks for voices is opened with.
import type { Engine, EngineConnection } from '../../vendors/kit/provider.ts';
import type { StreamMessage } from '../protocol.ts';

/** Less voice is a sound that only resembles one. Seconds. */
export const VOICE_SECONDS_MIN = 0.1;

export interface VoicesListener {
  message(message: StreamMessage): void;
  /** There is room for more audio. */
  drained?(): void;
  closed(): void;
}

/** Undefined where there is no detector, or no place for another stream now. */
export function openVoices(
  engine: Engine | undefined,
  organisationId: string,
  { message, drained = () => {}, closed }: VoicesListener,
): EngineConnection | undefined {
  try {
    return engine?.connect(
      { task: { kind: 'voice' } },
      { open: () => {}, message: (each) => message(each as StreamMessage), drained, closed },
      organisationId,
    );
  } catch {
    return undefined;
  }
}
