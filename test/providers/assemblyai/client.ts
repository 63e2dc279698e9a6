// A plain client of the simulated AssemblyAI: every message and the close, in order, to wait for.
import WebSocket from 'ws';

export type Message = Record<string, unknown> & { type: string };

export class Client {
  readonly messages: Message[] = [];
  /** How the connection ended: a close, or an HTTP status in place of the upgrade. */
  readonly closed: Promise<{ code: number; reason: string }>;
  /** The upgrade was accepted. */
  readonly opened: Promise<void>;
  private readonly socket: WebSocket;
  private wake: (() => void) | undefined;
  private over = false;

  /**
   * @param server `http://…` of the simulator
   * @param key '' for none
   */
  constructor(server: string, query: Record<string, string> = {}, key = 'key-1') {
    const headers = key === '' ? {} : { Authorization: key };
    this.socket = new WebSocket(`${server.replace('http', 'ws')}/v3/ws?${new URLSearchParams(query)}`, { headers });
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as Message);
      this.wake?.();
    });
    this.socket.on('error', () => {});
    this.opened = new Promise((resolve) => this.socket.on('open', resolve));
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.over = true;
        resolve({ code, reason: reason.toString() });
        this.wake?.();
      });
    });
  }

  send(message: string | Uint8Array | { type: string; [member: string]: unknown }): void {
    this.socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  /** Leaves without a word. */
  drop(): void {
    this.socket.terminate();
  }

  /** Resolves with the n-th message that fits, from 1. Rejects when the connection ends without it. */
  async message(fits: (message: Message) => boolean, n = 1): Promise<Message> {
    for (;;) {
      const found = this.messages.filter(fits)[n - 1];
      if (found !== undefined) return found;
      if (this.over) throw new Error(`It ended after ${this.messages.map(({ type }) => type).join(', ')}.`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Everything sent before was read at the other end, and what that end said until then has come. */
  async settled(): Promise<void> {
    const pong = new Promise<void>((resolve) => this.socket.once('pong', () => resolve()));
    this.socket.ping();
    await pong;
  }

  begun(): Promise<Message> {
    return this.message(({ type }) => type === 'Begin');
  }
}

export const isFinal = (message: Message): boolean => message.end_of_turn === true;

/** Silence: the ears of these tests go by position. */
export const silence = (milliseconds: number, sampleRate = 16_000): Uint8Array =>
  new Uint8Array((milliseconds * sampleRate * 2) / 1_000);
