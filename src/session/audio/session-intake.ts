// What takes the audio of one session's client, and what the session makes of what it notices.
import type { SessionEndReason } from '../../../machines/events.ts';
import { containerWords } from '../../audio/opus/packet-source.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { AbortCode, OrderlyCode } from '../billing/end-charges.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { SessionDependencies } from '../session-dependencies.ts';
import type { SessionOpening } from '../session-opening.ts';
import { AudioIntake } from './intake.ts';

/** @param session ends for what the client sends */
export function intakeOf(
  { request }: SessionOpening,
  { clock, totals }: SessionDependencies,
  { pipeline, backlogSecondsMax, events, charts }: IntakeParts,
  session: EndedByAudio,
): AudioIntake {
  return new AudioIntake({
    ...{ request, pipeline, clock, totals, backlogSecondsMax },
    onContainer: (name) => session.abort('unsupported_audio', containerWords(name, request.encoding)),
    onUnsupported: (message) => session.abort('unsupported_audio', message),
    onDamaged: () => events.damaged(),
    onBacklog: ({ code, message }) => session.stop('error', code, message),
    onLate: () => events.lateAudio(charts.endError),
    onOddRate: (ratio) => events.rateSuspect(ratio),
    onOddLayout: (layout) => events.layoutSuspect(layout),
  });
}

interface IntakeParts {
  pipeline: AudioPipeline;
  backlogSecondsMax: number;
  events: EventWriter;
  charts: Charts;
}

interface EndedByAudio {
  abort(code: AbortCode, message: string): void;
  stop(reason: SessionEndReason, code: OrderlyCode, message: string): void;
}
