// The figures of the batch bench, of all rounds.
import { differencesOf, type Rows, ratiosOf, spreadOf } from '../spread.ts';

/** One way in one round. */
export interface Measured {
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
  /** Of the process that is measured, for each request. */
  cpuMs: number;
  residentMb: number;
  /** Shares of a core. */
  loadBusy: number;
  providerBusy: number;
  /** Of all programs of the machine that are not part of the bench. */
  othersBusy: number;
}

export type Of<Name extends string, Figures> = Record<Name, Figures[]>;

const DIRECT = 'direct';
const figures = <Figures>(rounds: readonly Figures[] | undefined, name: keyof Figures): number[] =>
  (rounds ?? []).map((round) => round[name] as number);

/** Percentiles at a pace; requests a second, time and memory with as many requests as there can be. */
export function waysOf(
  paced: Readonly<Record<string, readonly Measured[]>>,
  saturated: Readonly<Record<string, readonly Measured[]>>,
  peers: readonly string[],
): Rows {
  return Object.fromEntries(
    Object.keys(paced).map((way) => {
      const atPace = (name: keyof Measured) => figures(paced[way], name);
      const atMost = (name: keyof Measured) => figures(saturated[way], name);
      const added = (name: 'p50Ms' | 'p99Ms') => differencesOf(atPace(name), figures(paced[DIRECT], name));
      const versus = peers.map((peer) => [
        `per_second_vs_${peer}`,
        ratiosOf(atMost('perSecond'), figures(saturated[peer], 'perSecond')),
      ]);
      const row = {
        per_second: spreadOf(atMost('perSecond')),
        ...Object.fromEntries(versus),
        p50_ms: spreadOf(atPace('p50Ms')),
        p99_ms: spreadOf(atPace('p99Ms')),
        ...(way === DIRECT ? {} : { added_p50_ms: added('p50Ms'), added_p99_ms: added('p99Ms') }),
        // In the direct run the measured process is the provider.
        ...(way === DIRECT ? {} : { cpu_ms: spreadOf(atMost('cpuMs')), resident_mb: spreadOf(atMost('residentMb')) }),
        load_core: spreadOf(atMost('loadBusy')),
        provider_core: spreadOf(atMost('providerBusy')),
        others_core: spreadOf(atPace('othersBusy')),
      };
      return [way, row];
    }),
  );
}

/** `growthMib`: by how much the resident memory of the gateway rose at its highest. */
export function uploadsOf(uploads: Readonly<Record<string, readonly { ms: number; growthMib: number }[]>>): Rows {
  return Object.fromEntries(
    Object.entries(uploads).map(([name, rounds]) => [
      name,
      {
        upload_ms: spreadOf(figures(rounds, 'ms')),
        upload_vs_direct: ratiosOf(figures(rounds, 'ms'), figures(uploads[DIRECT], 'ms')),
        growth_mib: spreadOf(figures(rounds, 'growthMib')),
      },
    ]),
  );
}
