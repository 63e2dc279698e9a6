// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of Embedded recogniser. */
export interface LocalParams {
  /** Milliseconds of silence that end a turn; 350 when absent. */
  endpointing?: number;
}

/** Options of Embedded recogniser for local/commands-en and its like. */
export interface LocalCommandsEnParams {
  /** A JSGF grammar to listen for instead of the built-in one; its words must be in the dictionary. No imports, no rule that refers to itself. */
  grammar?: string;
}

/** Options of Embedded recogniser for local/align-en and its like. */
export interface LocalAlignEnParams {
  /** The words that are spoken; their times are returned. */
  align_text: string;
}

/** Options of Kyutai. */
export type KyutaiParams = Record<string, never>;

/** Options of Loopback. */
export interface LoopbackParams {
  /** Delay before audio is taken. */
  ready_delay_ms?: number;
  /** Delay of each final. */
  final_delay_ms?: number;
  /** Seconds of audio between interims; 0.5 when absent. */
  interim_seconds?: number;
  fail?: {
    /** refuse: closed instead of ready; hang: never ready; error: an error message; close: the connection ends; stall: nothing is said any more; finish: the end of the session is never confirmed. */
    how: 'refuse' | 'hang' | 'error' | 'close' | 'stall' | 'finish';
    /** Seconds of audio after which `error`, `close` and `stall` happen; 0 when absent. */
    at_seconds?: number;
    /** Close code of `close` and `refuse`; 1011 when absent. */
    code?: number;
    /** What `error` is taken for; `next` when absent. */
    kind?: 'retry' | 'next' | 'account' | 'caller';
  };
  /** The script; it begins again when it is over. */
  turns?: {
    /** What is said; may be empty: a turn without words. */
    text: string;
    /** Seconds of audio the turn lasts. */
    seconds: number;
  }[];
}

/** Options of Loopback for loopback/numbered and its like. */
export interface LoopbackNumberedParams {
  /** Delay before audio is taken. */
  ready_delay_ms?: number;
  /** Delay of each final. */
  final_delay_ms?: number;
  /** Seconds of audio between interims; 0.5 when absent. */
  interim_seconds?: number;
  fail?: {
    /** refuse: closed instead of ready; hang: never ready; error: an error message; close: the connection ends; stall: nothing is said any more; finish: the end of the session is never confirmed. */
    how: 'refuse' | 'hang' | 'error' | 'close' | 'stall' | 'finish';
    /** Seconds of audio after which `error`, `close` and `stall` happen; 0 when absent. */
    at_seconds?: number;
    /** Close code of `close` and `refuse`; 1011 when absent. */
    code?: number;
    /** What `error` is taken for; `next` when absent. */
    kind?: 'retry' | 'next' | 'account' | 'caller';
  };
  /** Seconds of audio of a turn; 2 when absent. */
  turn_seconds?: number;
}
