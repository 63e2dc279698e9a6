// The figures of the live bench, of all rounds.
import { differencesOf, type Rows, ratiosOf, type Spread, spreadOf } from '../spread.ts';

/** One target in one round. */
export interface Measured {
  /** Of the target; undefined for the clients that connect to the provider directly. */
  coreShare?: number;
  /** From the end of a second of audio until its answer, as the client saw it. */
  delayP50Ms: number;
  delayP99Ms: number;
  /** From the client's chunk until its provider has it, including the wait for more audio. */
  audioP50Ms: number;
  audioP99Ms: number;
  /** Of the whole process, and how much of it is since the first client. */
  residentMb?: number;
  grownMb?: number;
  /** Shares of a core: near 1, it is not the target that is measured. */
  loadShare: number;
  upstreamShare: number;
  /** Of all programs of the machine that are not part of the bench. */
  othersShare: number;
  /** Seconds of audio without their answer, clients that were closed, and chunks that were sent late. */
  missingShare: number;
  gone: number;
  lateShare: number;
}

type Figure = keyof Measured;

/** `direct` without what only a process in between has. */
export function figuresOf(rounds: Readonly<Record<string, readonly Measured[]>>): Rows {
  const of = (name: string, figure: Figure) => (rounds[name] ?? []).flatMap((measured) => measured[figure] ?? []);
  const beyond = (name: string, other: string, figure: Figure) => differencesOf(of(name, figure), of(other, figure));
  const ofTarget = (name: string): Record<string, Spread> => ({
    core: spreadOf(of(name, 'coreShare')),
    ...('floor' in rounds
      ? {
          core_vs_floor: ratiosOf(of(name, 'coreShare'), of('floor', 'coreShare')),
          answer_beyond_floor_p99_ms: beyond(name, 'floor', 'delayP99Ms'),
        }
      : {}),
    resident_mb: spreadOf(of(name, 'residentMb')),
    grown_mb: spreadOf(of(name, 'grownMb')),
    answer_added_p50_ms: beyond(name, 'direct', 'delayP50Ms'),
    answer_added_p99_ms: beyond(name, 'direct', 'delayP99Ms'),
    audio_added_p50_ms: beyond(name, 'direct', 'audioP50Ms'),
    audio_added_p99_ms: beyond(name, 'direct', 'audioP99Ms'),
  });
  const all = (name: string): Record<string, Spread> => ({
    answer_p50_ms: spreadOf(of(name, 'delayP50Ms')),
    answer_p99_ms: spreadOf(of(name, 'delayP99Ms')),
    audio_p50_ms: spreadOf(of(name, 'audioP50Ms')),
    audio_p99_ms: spreadOf(of(name, 'audioP99Ms')),
    load_core: spreadOf(of(name, 'loadShare')),
    provider_core: spreadOf(of(name, 'upstreamShare')),
    others_core: spreadOf(of(name, 'othersShare')),
    missing_percent: spreadOf(of(name, 'missingShare').map((share) => share * 100)),
    gone: spreadOf(of(name, 'gone')),
    late_percent: spreadOf(of(name, 'lateShare').map((share) => share * 100)),
  });
  return Object.fromEntries(
    Object.keys(rounds).map((name) => [name, { ...(name === 'direct' ? {} : ofTarget(name)), ...all(name) }]),
  );
}
