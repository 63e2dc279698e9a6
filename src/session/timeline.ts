// A position in a session's audio as its client is told it: seconds, to the microsecond.

export const secondsOf = (sample: number, sampleRate: number): number => Math.round((sample / sampleRate) * 1e6) / 1e6;
