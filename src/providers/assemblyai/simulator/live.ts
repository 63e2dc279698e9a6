// One session of the simulated v3 WebSocket: its rules of frames, pace and end, and the turns as each kind of model tells
// them. What is heard is the ear's; keys and tokens are account.ts.
import type { Word } from '../../../../machines/events.ts';
import type {
  Ear,
  EarMessage,
  SimulatedConnection,
  SimulatedPeer,
  SimulatedRequest,
  SimulatorTools,
} from '../../simulation.ts';
import { type Account, accountOf, KEY_FAULTS, keyFault } from './account.ts';
import { faultOfQuery, optionsOf, type SessionOptions } from './query.ts';
import { type Regime, TurnWriter } from './turns.ts';

const BYTES_PER_SAMPLE = 2;
const FRAME_MS = { min: 50, max: 1_000 };
/** Audio taken ahead of real time. AssemblyAI does not publish how much it tolerates. */
const BURST_MS = 1_000;
const LONGEST_SECONDS = 10_800;
/** Sums of milliseconds are rounded. */
const ROUNDING_MS = 1e-6;

const TOO_MANY = 'Unauthorized Connection: Too many concurrent sessions';

/** Opens a session, or one that is closed at once: AssemblyAI says what is wrong after the upgrade. */
export function openSession(
  peer: SimulatedPeer,
  request: SimulatedRequest,
  tools: SimulatorTools,
): SimulatedConnection {
  const account = accountOf(tools.clock);
  const query = request.url.searchParams;
  const token = query.get('token');
  const tokenSeconds = token === null ? undefined : account.tokens.take(token);
  const fault =
    tokenSeconds === undefined ? keyFault(token === null ? request.headers.authorization : 'bad') : undefined;
  if (fault !== undefined) return refused(peer, KEY_FAULTS[fault].close.code, KEY_FAULTS[fault].close.reason);
  for (const code of [1008, 3009]) {
    if (tools.quirk(`concurrent-${code}`) !== undefined) return refused(peer, code, TOO_MANY);
  }
  const wrong = faultOfQuery(query);
  if (wrong !== undefined) return refused(peer, 3006, `Invalid Message: ${wrong}`);
  return new Session(peer, tools, account, optionsOf(query), tokenSeconds ?? LONGEST_SECONDS);
}

function refused(peer: SimulatedPeer, code: number, reason: string): SimulatedConnection {
  sayFault(peer, code, reason);
  return { text: () => {}, bytes: () => {}, gone: () => {} };
}

function sayFault(peer: SimulatedPeer, code: number, reason: string): void {
  peer.send({ type: 'Error', error_code: code, error: reason });
  // A close frame holds 123 bytes of reason, and clients choose some of its words.
  peer.close(code, reason.replace(/[^ -~]/g, '?').slice(0, 123));
}

class Session implements SimulatedConnection {
  private readonly peer: SimulatedPeer;
  private readonly tools: SimulatorTools;
  private readonly account: Account;
  private readonly options: SessionOptions;
  private readonly longestSeconds: number;
  private readonly ear: Ear;
  private readonly turns: TurnWriter;
  private readonly timers = new Set<unknown>();
  private startedMs: number;
  private audioMs = 0;
  /** Since when audio has come without falling behind real time, and how much since then. */
  private paceFromMs: number;
  private pacedMs = 0;
  /** Formatted finals still to be said. */
  private formattedDue = 0;
  private terminating = false;
  private earFinished = false;
  private over = false;

  constructor(
    peer: SimulatedPeer,
    tools: SimulatorTools,
    account: Account,
    options: SessionOptions,
    longestSeconds: number,
  ) {
    this.peer = peer;
    this.tools = tools;
    this.account = account;
    this.options = options;
    this.longestSeconds = longestSeconds;
    this.startedMs = tools.clock.now();
    this.paceFromMs = this.startedMs;
    this.turns = new TurnWriter(options);
    account.sessions.open++;
    const { sampleRate, language } = options;
    this.ear = tools.openEar({ sampleRate, language }, (message) => this.hear(message));
    this.later(Number(tools.quirk('begin-late') ?? 0), () => this.begin());
  }

  text(text: string): void {
    const message = parsed(text);
    if (typeof message === 'string') {
      this.fail(3006, `${message}: ${text.slice(0, 80)}`);
      return;
    }
    switch (message.type) {
      case 'ForceEndpoint':
        if (this.tools.quirk('swallow-force-endpoint') === undefined) this.ear.finalize();
        return;
      case 'UpdateConfiguration':
        if (typeof message.format_turns === 'boolean') this.options.formatTurns = message.format_turns;
        return;
      case 'KeepAlive':
        return;
      case 'Terminate':
        if (this.terminating) return;
        this.terminating = true;
        this.ear.finish();
        return;
      default:
        this.fail(3006, `Invalid Message Type: ${String(message.type).slice(0, 80)}`);
    }
  }

  bytes(bytes: Uint8Array): void {
    if (this.over || this.terminating) return;
    const frameMs = (bytes.byteLength / BYTES_PER_SAMPLE / this.options.sampleRate) * 1_000;
    const fault = this.faultOfFrame(frameMs);
    if (fault === undefined) this.ear.audio(bytes);
    else this.fail(3007, fault);
  }

  private faultOfFrame(frameMs: number): string | undefined {
    if (frameMs < FRAME_MS.min - ROUNDING_MS || frameMs > FRAME_MS.max + ROUNDING_MS)
      return `Input duration violation: ${frameMs.toFixed(1)} ms. Expected between 50 and 1000 ms`;
    const nowMs = this.tools.clock.now();
    this.audioMs += frameMs;
    // What a client did not send while it was silent, it may not send at once later.
    if (this.paceFromMs + this.pacedMs <= nowMs) {
      this.paceFromMs = nowMs;
      this.pacedMs = 0;
    }
    this.pacedMs += frameMs;
    const elapsedMs = nowMs - this.paceFromMs;
    if (this.pacedMs <= elapsedMs + BURST_MS + ROUNDING_MS) return undefined;
    const received = (this.pacedMs / 1_000).toFixed(2);
    const elapsed = (elapsedMs / 1_000).toFixed(2);
    return `Audio Transmission Rate Exceeded: Received ${received} sec. audio in ${elapsed} sec`;
  }

  gone(): void {
    if (this.over) return;
    this.end();
    if (this.terminating) this.account.sessions.terminated++;
    else this.account.sessions.abandoned++;
  }

  private begin(): void {
    this.startedMs = this.tools.clock.now();
    // A simulator has no wall clock: its own time stands for it.
    const expires = Math.floor(this.startedMs / 1_000) + this.longestSeconds;
    this.peer.send({ type: 'Begin', id: this.account.newId('session'), expires_at: expires });
    this.later(this.longestSeconds * 1_000, () =>
      this.fail(3008, 'Session Expired: Maximum session duration exceeded'),
    );
  }

  private hear(message: EarMessage): void {
    if (this.over) return;
    switch (message.type) {
      case 'speech_started':
        if (this.options.isUniversal3)
          this.peer.send({ type: 'SpeechStarted', timestamp: Math.round(message.start * 1_000), confidence: 0.9 });
        return;
      case 'interim':
        this.peer.send(this.turns.partial(this.regime(), message));
        return;
      case 'final':
        this.final(message.turn, message);
        return;
      case 'no_match':
        this.peer.send(this.turns.empty(this.regime(), message.turn));
        return;
      case 'finished':
        this.earFinished = true;
        this.terminate();
        return;
      case 'error':
        this.fail(3005, 'Session Cancelled: An error occurred');
    }
  }

  private final(turn: number, heard: { text: string; start: number; end: number; words?: Word[] }): void {
    const regime = this.regime();
    this.peer.send(this.turns.end(regime, { turn, ...heard }));
    if (regime !== 'a' || this.tools.quirk('twin-never') !== undefined) return;
    this.formattedDue++;
    this.later(Number(this.tools.quirk('twin-late') ?? 0), () => {
      this.peer.send(this.turns.formatted({ turn, ...heard }));
      this.formattedDue--;
      this.terminate();
    });
  }

  /** By what was asked for, unless a quirk says otherwise. */
  private regime(): Regime {
    const asked = this.tools.quirk('regime');
    if (asked === 'a' || asked === 'b' || asked === 'c' || asked === 'd') return asked;
    if (this.options.formatsItself) return 'd';
    return this.options.formatTurns ? 'a' : 'c';
  }

  /** The turns in flight have been said: how long the session was open, and the end. */
  private terminate(): void {
    if (!this.earFinished || this.formattedDue > 0 || this.tools.quirk('no-termination') !== undefined) return;
    this.peer.send({
      type: 'Termination',
      audio_duration_seconds: Math.round(this.audioMs / 1_000),
      session_duration_seconds: Math.round((this.tools.clock.now() - this.startedMs) / 1_000),
    });
    this.account.sessions.terminated++;
    this.end();
    this.peer.close(1000, '');
  }

  private fail(code: number, reason: string): void {
    if (this.over) return;
    this.end();
    sayFault(this.peer, code, reason);
  }

  private end(): void {
    this.over = true;
    this.account.sessions.open--;
    this.ear.close();
    for (const timer of this.timers) this.tools.clock.clearTimeout(timer);
    this.timers.clear();
  }

  private later(delayMs: number, work: () => void): void {
    if (!(delayMs > 0)) {
      work();
      return;
    }
    const timer = this.tools.clock.setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, delayMs);
    this.timers.add(timer);
  }
}

/** A message, or what is wrong with it. */
function parsed(text: string): Record<string, unknown> | string {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? { ...json } : 'Invalid Message';
  } catch {
    return 'Invalid JSON';
  }
}
