// A `text/event-stream` as the JSON objects in it.
import { ConnectionError } from '../errors.ts';
import { piecesOf } from './file-body.ts';

/** A line of more is none of ours. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The data of each event until the stream or `[DONE]` ends it. Throws a ConnectionError for what is no JSON. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    if (line !== '' || data.length === 0) continue;
    const whole = data.join('\n');
    data = [];
    if (whole === '[DONE]') return;
    yield parsed(whole);
  }
}

/** Lines that are ended by CR, LF or both; one that is not ended at the end of the stream is no line. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const text = new TextDecoder();
  let rest = '';
  for await (const piece of piecesOf(body)) {
    rest += text.decode(piece, { stream: true });
    // A CR at the end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) throw unreadable();
    yield* lines;
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}

const unreadable = (): ConnectionError =>
  new ConnectionError('The stream has an event that is not JSON, or is far too long.', { code: 'bad_answer' });
