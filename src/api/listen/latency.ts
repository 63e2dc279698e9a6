// What matters more to a live session: that each piece of audio leaves at once, or what it costs.
export const LATENCIES = ['low', 'balanced', 'throughput'] as const;
export type Latency = (typeof LATENCIES)[number];
