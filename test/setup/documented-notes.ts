// What gateways were heard to say since the last test, and what of it is not in the documents. The comparison is loaded when
// there is something to compare.
import type { Answer } from './documented-check.ts';

/** Looked at by now: answers over HTTP, their requests, and events of live sessions. */
export const counted = { answers: 0, requests: 0, events: 0, closes: 0 };

/** Paths of servers that tests open for one endpoint alone, and the path that the endpoint has. */
const standIns = new Map<string, string>();

/** A server of the test's own serves an endpoint of the gateway at another path, without keys before it. */
export const servesAt = (path: string, documented: string): void => void standIns.set(path, documented);

export const forgetStandIns = (): void => standIns.clear();

export const isStandIn = (url: string): boolean => standIns.has(new URL(url).pathname);

function documentedPlace(url: string): string {
  const place = new URL(url);
  place.pathname = standIns.get(place.pathname) ?? place.pathname;
  return place.href;
}

const pending: Promise<void>[] = [];
const problems: string[] = [];

/** Messages of the schema library, which speak to its authors. */
const LIBRARY_WORDS =
  /\bExpected (?:union|required|string|integer|number|boolean|object|array|null|literal|value|kind|all|'|property)\b|Expected '|\bUnexpected property\b/;

function noteWords(where: string, text: string): void {
  const [words] = LIBRARY_WORDS.exec(text) ?? [];
  if (words !== undefined)
    problems.push(`${where} says "${words}", words of the schema library: ${text.slice(0, 400)}`);
}

const check = () => import('./documented-check.ts');

/** @param sent the body of the request, where it is known */
export function noteAnswer(heard: Answer, text: string | Promise<string>, sent: unknown): void {
  const answer = { ...heard, url: documentedPlace(heard.url), isKeyless: isStandIn(heard.url) };
  const look = async () => {
    // A request that was cut off by the test has no body to look at.
    const body = await Promise.resolve(text).catch(() => undefined);
    if (body === undefined) return;
    if (answer.status >= 400) noteWords(`${answer.method} ${new URL(answer.url).pathname}`, body);
    const { isDocumentedPlace, problemsOfAnswer, problemsOfRequest } = await check();
    if (!isDocumentedPlace(answer.url)) return;
    counted.answers++;
    problems.push(...problemsOfAnswer(answer, body));
    if (answer.status < 200 || answer.status > 299) return;
    counted.requests++;
    problems.push(...(await problemsOfRequest(answer, sent)));
  };
  pending.push(look());
}

export function noteEvent(text: string): void {
  const look = async () => {
    counted.events++;
    noteWords('An event', text);
    problems.push(...(await check()).problemsOfEvent(text));
  };
  pending.push(look());
}

export function noteClose(code: number): void {
  const look = async () => {
    counted.closes++;
    problems.push(...(await check()).problemsOfClose(code));
  };
  pending.push(look());
}

/** What was wrong since the last time. */
export async function failures(): Promise<string[]> {
  while (pending.length > 0) await Promise.all(pending.splice(0));
  return problems.splice(0);
}
