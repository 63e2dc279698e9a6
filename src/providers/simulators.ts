// The simulators: one line per provider that has one.
import type { ProviderSimulator } from './simulation.ts';

export const simulators: readonly ProviderSimulator[] = [];
