// A provider of files over HTTP that does what a test tells it to: a real server that keeps every request, and a codec whose
// steps follow what the server answers. Answers are JSON: `{text, seconds?}` is the result, `{next, after_ms?}` a path to poll.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Type } from '@sinclair/typebox';
import type {
  BatchStep,
  ChannelBilling,
  HttpBatchCodec,
  HttpRequest,
  ModelCard,
  Provider,
} from '../../../src/vendors/kit/provider.ts';
import { models } from '../../../src/vendors/loopback/models.ts';

export const SECRET = 'sk-provider-secret-0123456789';

/** One request as it arrived. */
export interface Arrived {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export type Answer = (response: ServerResponse, arrived: Arrived) => void;

/** A JSON answer. */
export const answer =
  (json: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));

/** What the provider answers with; the last answer is given again and again. */
export class HttpProvider {
  readonly arrived: Arrived[] = [];
  readonly sockets = new Set<Socket>();
  answers: Answer[];
  /** Called for a request before its body is read; true: it is taken care of. */
  early: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  url = '';
  private readonly server: Server;
  private readonly watchers = new Set<() => void>();

  constructor(...answers: Answer[]) {
    this.answers = answers;
    this.server = createServer((request, response) => {
      if (this.early?.(request, response) !== true) void this.take(request, response);
      this.tell();
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.sockets.delete(socket);
        this.tell();
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Resolves as soon as it holds; looked at whenever anything happens here. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watch = () => {
        if (!holds()) return;
        this.watchers.delete(watch);
        resolve();
      };
      this.watchers.add(watch);
      watch();
    });
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    const arrived = { method, path: url, headers, body: Buffer.concat(pieces) };
    this.arrived.push(arrived);
    const next = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    next?.(response, arrived);
    this.tell();
  }

  private tell(): void {
    for (const watch of [...this.watchers]) watch();
  }
}

export interface CodecOptions {
  needsLength?: boolean;
  answerMs?: number;
  billsChannels?: ChannelBilling;
  /** How the file is sent. */
  body?: 'file' | 'multipart';
  codec?: Partial<HttpBatchCodec>;
}

/** A codec that posts the file, and asks on where the answer says so. */
export function scriptedCodec({
  needsLength = false,
  answerMs = 10_000,
  billsChannels = 'never',
  body = 'file',
  codec,
}: CodecOptions = {}) {
  const scripted: HttpBatchCodec = {
    kind: 'http',
    needsLength,
    answerMs,
    billsChannels,
    begin: ({ access, model, params }) => {
      const headers = { Authorization: `Bearer ${access.credential}` };
      const fields: [string, string][] = [
        ['model', model],
        ['prompt "quoted"', String(params.prompt ?? '')],
      ];
      const request: HttpRequest = {
        method: 'POST',
        url: `${access.baseUrl}/files?model=${model}`,
        headers,
        body: body === 'file' ? { kind: 'file' } : { kind: 'multipart', fields, fileField: 'file' },
      };
      return { state: { base: access.baseUrl, polled: '' }, step: { type: 'request', request } };
    },
    read: (state, { body: text }): BatchStep => {
      const said = JSON.parse(text) as {
        text?: string;
        seconds?: number;
        /** Start and end of each. */
        turns?: [number, number][];
        /** No times were reported: the text lasts as long as the provider says that the file does. */
        untimed?: boolean;
        next?: string;
        after_ms?: number;
      };
      const own = state as { base: string; polled: string };
      if (said.next !== undefined) {
        own.polled = said.next;
        const request: HttpRequest = {
          method: 'GET',
          url: `${own.base}${said.next}`,
          headers: {},
          body: { kind: 'none' },
        };
        return { type: 'request', request, ...(said.after_ms === undefined ? {} : { afterMs: said.after_ms }) };
      }
      const { text: heard = '', untimed = false, turns = untimed ? [[0, said.seconds ?? 0]] : [[0.5, 1.5]] } = said;
      const utterances = turns.map(([start, end]) => ({
        text: heard,
        start,
        end,
        ...(said.turns === undefined ? {} : { words: [{ word: heard, start, end }] }),
      }));
      return { type: 'done', result: { utterances, language: 'en', seconds: said.seconds, warnings: [] } };
    },
    abandon: (state) => {
      const { base, polled } = state as { base: string; polled: string };
      return polled === '' ? [] : [{ method: 'DELETE', url: `${base}${polled}`, headers: {}, body: { kind: 'none' } }];
    },
    ...codec,
  };
  return scripted;
}

export interface ScriptedProviderOptions extends CodecOptions {
  audio?: Partial<ModelCard['audio']>;
  /** An option that it cannot do without. */
  needs?: string;
}

/** A provider with the one model `<name>/file`. */
export function scriptedProvider(name: string, { audio, needs, ...options }: ScriptedProviderOptions = {}): Provider {
  const [template] = models as [ModelCard];
  return {
    name,
    title: name,
    models: [
      {
        ...template,
        id: `${name}/file`,
        modes: ['batch'],
        audio: { ...template.audio, max_file_bytes: null, max_seconds: null, ...audio },
        pricing: { currency: 'USD', batch: { unit: 'minute', amount: '0.60', byok: '0.00' } },
      },
    ],
    options: () =>
      Type.Object(
        {
          prompt: Type.Optional(Type.String()),
          deaf: Type.Optional(Type.Boolean()),
          multichannel: Type.Optional(Type.Boolean()),
          ...(needs === undefined ? {} : { [needs]: Type.String() }),
        },
        { additionalProperties: false },
      ),
    optionRows: { prompt: { schema: Type.String(), batch: true, common: 'prompt' } },
    credential: 'required',
    live: undefined,
    batch: scriptedCodec(options),
    failures: [],
  };
}
