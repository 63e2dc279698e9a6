// What the suite of dialects asks of an official client: to transcribe speech, live and from a file, as its documents show.

export interface Job {
  /** Of the gateway: `http://127.0.0.1:…`. */
  url: string;
  key: string;
  /** As the client names it. */
  model: string;
  sampleRate: number;
  /** What the last final contains, for clients that report no times. */
  lastWord?: string;
  /** When the last word is over; when the audio is, where it is absent. Clients that are told of no end wait for that word. */
  lastWordSeconds?: number;
}

/** What the client was told of one turn, finally. */
export interface HeardFinal {
  text: string;
  /** Seconds, where the protocol tells them. */
  end?: number;
}

export interface Driver {
  /** Of the client, as it is published. */
  client: string;
  dialect: string;
  /** Sends the audio, piece by piece, and ends in order. Rejects with what the client makes of a refusal. */
  live?(job: Job, pieces: readonly Uint8Array[]): Promise<HeardFinal[]>;
  /** Models that it does not hear to the end when it is live, and why not. */
  unmet?: Readonly<Record<string, string>>;
  /** Models that it is tried with when it is live; every model where absent. */
  models?: readonly string[];
  /** Transcribes a WAV file. */
  file?(job: Omit<Job, 'sampleRate'>, wav: Uint8Array): Promise<string>;
}

/** Whether a model is one of those that a live client is tried with. */
export const isTriedWith = ({ models, unmet = {} }: Driver, slug: string): boolean =>
  unmet[slug] === undefined && models?.includes(slug) !== false;
