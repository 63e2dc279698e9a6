// The simulators: one line per provider that has one.
import { simulator as assemblyai } from './assemblyai/simulator.ts';
import { simulator as deepgram } from './deepgram/simulator.ts';
import { simulator as openai } from './openai/simulator.ts';
import type { ProviderSimulator } from './simulation.ts';

export const simulators: readonly ProviderSimulator[] = [deepgram, assemblyai, openai];
