// A service that finds names and addresses as Presidio does: `POST /analyze` over a real socket, with offsets in code points, and with
// the misfortunes that a test asks for.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How it answers. `silent`: not at all. `late`: not before `answerLate`. */
export type Manner =
  | 'good'
  | 'late'
  | 'silent'
  | 'failing'
  | 'garbage'
  | 'object'
  | 'beyond_the_text'
  | 'backwards'
  | 'huge'
  | 'redirect'
  | 'hang_up';

export interface Asked {
  text: string;
  language: string;
  entities: string[];
}

/** Words that are names and places here, whoever says them. */
const ENTITIES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:Zoe|Anna|Jürgen|Quentin)(?: (?:Quill|Meier|Strasse))?|\bQuill\b|山田太郎/gu, 'PERSON'],
  [/\b(?:\d+ )?(?:Wicker Lane|Springfield|Berlin)\b/gu, 'LOCATION'],
];

export class AnalyzerService {
  manner: Manner = 'good';
  readonly asked: Asked[] = [];
  connections = 0;
  /** Requests that have no answer yet, and the most there were. */
  open = 0;
  openMax = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();
  #late: (() => void)[] = [];
  #waiting: { count: number; resolve: () => void }[] = [];

  static async start(): Promise<AnalyzerService> {
    const service = new AnalyzerService();
    service.#server.on('connection', (socket) => {
      service.connections++;
      service.#sockets.add(socket);
      socket.on('close', () => service.#sockets.delete(socket));
    });
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when it was asked so often. */
  async askedTimes(count: number): Promise<void> {
    if (this.asked.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Requests that came while it was late are answered now. */
  answerLate(): void {
    this.manner = 'good';
    for (const answer of this.#late.splice(0)) answer();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open++;
    this.openMax = Math.max(this.openMax, this.open);
    response.on('close', () => this.open--);
    let body = '';
    request.setEncoding('utf8');
    for await (const piece of request) body += piece;
    const asked = JSON.parse(body) as Asked;
    this.asked.push(asked);
    if (request.method !== 'POST' || request.url !== '/analyze') response.writeHead(404).end();
    else if (this.manner === 'late') this.#late.push(() => this.#answer(asked, response));
    else this.#answer(asked, response);
    const { length } = this.asked;
    for (const each of this.#waiting.filter(({ count }) => count <= length)) each.resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > length);
  }

  #answer(asked: Asked, response: ServerResponse): void {
    const send = (status: number, body: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
    switch (this.manner) {
      case 'silent':
        return;
      case 'failing':
        send(500, JSON.stringify({ error: 'No matching recognizers were found to serve the request.' }));
        return;
      case 'garbage':
        send(200, '<html>Bad gateway</html>');
        return;
      case 'object':
        send(200, '{"entities":[]}');
        return;
      case 'beyond_the_text':
        send(200, JSON.stringify([entity('PERSON', 0, [...asked.text].length + 1)]));
        return;
      case 'backwards':
        send(200, JSON.stringify([entity('PERSON', 3, 1)]));
        return;
      case 'huge':
        send(200, `[${' '.repeat(8 * 1024 * 1024)}]`);
        return;
      case 'redirect':
        response.writeHead(307, { location: `${this.url}/analyze` }).end();
        return;
      case 'hang_up':
        response.destroy();
        return;
      default:
        send(200, JSON.stringify(entitiesIn(asked)));
    }
  }
}

function entitiesIn({ text, entities }: Asked) {
  const found = ENTITIES.filter(([, type]) => entities.includes(type)).flatMap(([pattern, type]) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => {
      const start = [...text.slice(0, index)].length;
      return entity(type, start, start + [...match].length);
    }),
  );
  return found.sort((one, other) => one.start - other.start);
}

const entity = (entity_type: string, start: number, end: number) => ({
  analysis_explanation: null,
  end,
  entity_type,
  score: 0.85,
  start,
  recognition_metadata: { recognizer_identifier: 'SpacyRecognizer_1', recognizer_name: 'SpacyRecognizer' },
});
