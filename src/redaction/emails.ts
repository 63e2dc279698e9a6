// Mail addresses, in print and spoken: "john.doe@example.com", "john dot doe at example dot com", "j smith 85 at g mail dot com".
import { type Match, matchOf, type Reading } from './match.ts';
import type { Token } from './tokens.ts';

const AT_WORDS = new Set(['at', 'arroba', 'arobase', 'klammeraffe', 'ät']);
const DOT_WORDS = new Set(['dot', 'punkt', 'point', 'punto', 'period']);
const JOINT_WORDS = new Set([
  ...['dot', 'punkt', 'point', 'punto', 'underscore', 'dash', 'hyphen', 'plus', 'minus', 'unterstrich', 'bindestrich'],
  ...['guion', 'tiret', 'period'],
]);
const PRINTED_JOINTS = "._%+-'&";
const LOCAL_TOKENS_MAX = 24;
const DOMAIN_WORDS_MAX = 3;
const LABELS_MAX = 6;
/** Letters of a last label that are spelt: "d e". */
const SPELT_MAX = 4;

/** Last labels that a spoken address may have. In print any word will do. */
const LAST_LABELS = new Set([
  ...[
    'com',
    'net',
    'org',
    'edu',
    'gov',
    'mil',
    'int',
    'io',
    'co',
    'uk',
    'de',
    'fr',
    'es',
    'it',
    'nl',
    'eu',
    'us',
    'ca',
  ],
  ...['au', 'ch', 'at', 'be', 'se', 'no', 'dk', 'fi', 'pl', 'pt', 'mx', 'br', 'ar', 'in', 'jp', 'cn', 'kr', 'ru', 'cz'],
  ...[
    'ie',
    'nz',
    'za',
    'sg',
    'hk',
    'tr',
    'gr',
    'hu',
    'ro',
    'ua',
    'il',
    'info',
    'biz',
    'me',
    'ai',
    'app',
    'dev',
    'tech',
  ],
  ...['online', 'cloud', 'shop', 'store', 'email', 'xyz', 'test', 'example', 'tv', 'cat', 'name', 'pro', 'page'],
]);

/** What stands before "at" where that is a place: "look at example dot com". */
const NOT_LOCAL = new Set([
  ...[
    'look',
    'looks',
    'looked',
    'looking',
    'work',
    'works',
    'worked',
    'working',
    'shop',
    'shops',
    'shopped',
    'shopping',
  ],
  ...['check', 'find', 'found', 'us', 'me', 'you', 'it', 'that', 'this', 'them', 'him', 'her', 'is', 'are', 'was'],
  ...['were', 'be', 'been', 'am', 'order', 'ordered', 'buy', 'bought', 'sell', 'sold', 'website', 'site', 'online'],
  ...['visit', 'visited', 'meet', 'met', 'here', 'there', 'more', 'up', 'again', 'out', 'page', 'available', 'listed'],
  ...['register', 'registered', 'sign', 'log', 'login', 'book', 'booked', 'apply', 'read', 'see', 'saw', 'job', 'jobs'],
  ...[
    'address',
    'email',
    'mail',
    'everyone',
    'people',
    'team',
    'one',
    'ones',
    'start',
    'started',
    'time',
    'the',
    'and',
  ],
  ...['or', 'but', 'stuff', 'things', 'prices', 'deals', 'account', 'accounts', 'news', 'free', 'now', 'today', 'live'],
  ...['itself', 'myself', 'home', 'hosted', 'posted', 'published', 'download', 'downloaded', 'starts', 'information'],
]);
/** What no part of a domain is. */
const NOT_DOMAIN = new Set(['the', 'a', 'an', 'my', 'our', 'your', 'their', 'this', 'that', 'and', 'or', 'to', 'is']);
/** Behind these words a local part of several words begins. */
const LEADS = new Set([
  'is',
  'address',
  'email',
  'mail',
  'to',
  'me',
  "it's",
  'its',
  'ist',
  'lautet',
  'est',
  'es',
  "that's",
  'under',
]);
const NAME_WORDS_MAX = 4;
/** Words that tell of an address. */
const CUES = new Set(['mail', 'mails', 'email', 'emails', 'address', 'gmail', 'adresse', 'correo', 'courriel']);
const CUE_TOKENS = 14;

export function findEmails({ tokens }: Reading): Match[] {
  const found: Match[] = [];
  let behind = 0;
  for (let at = 1; at < tokens.length; at++) {
    if (!isAt(tokens, at)) continue;
    const domain = domainEnd(tokens, at);
    if (domain === undefined) continue;
    const first = localStart(tokens, at, behind);
    if (first === undefined) continue;
    found.push(matchOf('email', tokens[first] as Token, tokens[domain] as Token));
    behind = domain + 1;
    at = domain;
  }
  return found;
}

const isWordLike = (token: Token | undefined): boolean => token !== undefined && token.kind !== 'symbol';

const isAt = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at] as Token;
  return token.text === '@' || (token.kind === 'word' && AT_WORDS.has(token.text));
};

/** The token behind "at sign" as well. */
const afterAt = (tokens: readonly Token[], at: number): number =>
  tokens[at]?.kind === 'word' && tokens[at + 1]?.text === 'sign' ? at + 2 : at + 1;

/** The first token of what is before the "at". */
function localStart(tokens: readonly Token[], at: number, behind: number): number | undefined {
  const isPrinted = tokens[at]?.text === '@';
  let first = at - 1;
  if (isPrinted && first >= behind && tokens[first]?.text === '"') return quoteStart(tokens, first, behind);
  if (first < behind || !isWordLike(tokens[first])) return undefined;
  if (!isPrinted && NOT_LOCAL.has((tokens[first] as Token).text)) return undefined;
  const until = Math.max(behind, at - LOCAL_TOKENS_MAX);
  let isJoined = false;
  for (;;) {
    const token = tokens[first] as Token;
    const before = tokens[first - 1];
    if (first - 1 < until || before === undefined) break;
    if (isJoint(before, token) && first - 2 >= until && isWordLike(tokens[first - 2])) {
      first -= 2;
      isJoined = true;
    } else if (isWordLike(before) && isJoinedTo(before, token, isPrinted && !(tokens[at] as Token).isSpaced)) first--;
    else break;
  }
  return isPrinted || isJoined ? first : nameStart(tokens, first, until);
}

/** "john doe"@example.com */
function quoteStart(tokens: readonly Token[], last: number, behind: number): number | undefined {
  for (let at = last - 1; at >= Math.max(behind, last - LOCAL_TOKENS_MAX); at--)
    if (tokens[at]?.text === '"') return at;
  return undefined;
}

/** In print a mark with no space around it, or with one on both sides; spoken, a word. */
const isJoint = (before: Token, token: Token): boolean =>
  before.kind === 'symbol'
    ? PRINTED_JOINTS.includes(before.text) && isEven(before, token)
    : JOINT_WORDS.has(before.text);

/** With spaces on both sides: some recognisers print each mark as a word. Dashes with spaces are those of sentences. */
const isEven = (mark: Token, next: Token): boolean =>
  mark.isSpaced ? next.isSpaced && '._'.includes(mark.text) : !next.isSpaced;

/** Parts of one word: in print without a space between them; spoken, letters that are spelt, and digits. */
function isJoinedTo(before: Token, token: Token, isPrinted: boolean): boolean {
  if (!token.isSpaced) return true;
  if (isPrinted) return false;
  // An initial.
  if (before.kind === 'word' && before.text.length === 1 && !ARTICLES.includes(before.text)) return true;
  if (isPart(token))
    return isPart(before) || (!LEADS.has(before.text) && !NOT_LOCAL.has(before.text) && isShortNumber(token));
  return false;
}

/** Words of one letter that are no initials. */
const ARTICLES = 'aiyoàè';

/** A letter, or digits in print. */
const isPart = ({ kind, text }: Token): boolean => kind === 'digits' || text.length === 1 || NUMBER_WORDS.has(text);
const isShortNumber = ({ kind, text }: Token): boolean => kind === 'digits' || NUMBER_WORDS.has(text);

const NUMBER_WORDS = new Set([
  ...['zero', 'oh', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen', 'twenty', 'thirty', 'forty'],
  ...['fifty', 'sixty', 'seventy', 'eighty', 'ninety', 'double', 'triple'],
]);

/** "my email is john smith at …": of all words behind the "is". */
function nameStart(tokens: readonly Token[], first: number, until: number): number {
  for (let index = first - 1; index >= until && index >= first - NAME_WORDS_MAX; index--) {
    const token = tokens[index] as Token;
    if (token.kind !== 'word') return first;
    if (LEADS.has(token.text)) return index + 1;
    if (NOT_LOCAL.has(token.text)) return first;
  }
  return first;
}

/** The last token of a domain that begins behind the "at". */
function domainEnd(tokens: readonly Token[], at: number): number | undefined {
  let index = afterAt(tokens, at);
  let words = 0;
  // The first label, in one word or in several, or in letters.
  let isSpelt = true;
  while (isWordLike(tokens[index]) && !DOT_WORDS.has((tokens[index] as Token).text)) {
    const token = tokens[index] as Token;
    if (isNoDomain(token) && !isHyphen(tokens[index + 1])) return undefined;
    isSpelt &&= token.text.length === 1;
    words++;
    index++;
    if (isHyphen(tokens[index]) && isWordLike(tokens[index + 1])) {
      index++;
      words--;
    }
    if (words > (isSpelt ? 2 * LABELS_MAX : 2 * DOMAIN_WORDS_MAX)) return undefined;
  }
  if (words === 0) return undefined;
  let end: number | undefined;
  const isPrinted = tokens[at]?.text === '@' && !(tokens[at + 1] as Token).isSpaced;
  for (let labels = 0; labels < LABELS_MAX; labels++) {
    const dot = tokens[index];
    if (dot === undefined || !isDot(dot, tokens[index + 1])) break;
    const label = labelEnd(tokens, index + 1, isPrinted);
    if (label === undefined) break;
    if (label.isLast) end = label.end;
    index = label.end + 1;
    // In print a domain has no spaces.
    while (isPrinted && isWordLike(tokens[index]) && !(tokens[index] as Token).isSpaced) {
      index++;
      end = index - 1;
    }
    while (isPrinted && tokens[index]?.text === '-' && !(tokens[index + 1]?.isSpaced ?? true)) index += 2;
  }
  return end;
}

const isHyphen = (token: Token | undefined): boolean =>
  token?.text === '-' || token?.text === 'dash' || token?.text === 'hyphen';

const isNoDomain = ({ kind, text }: Token): boolean => kind === 'word' && text.length > 1 && NOT_DOMAIN.has(text);

/** A printed dot ends a sentence where a space is behind it, unless what follows is the end of an address. */
const isDot = (token: Token, next: Token | undefined): boolean =>
  token.kind === 'word'
    ? DOT_WORDS.has(token.text)
    : token.text === '.' && next !== undefined && (next.isSpaced === token.isSpaced || COMMON.has(next.text));

const COMMON = new Set(['com', 'net', 'org', 'edu', 'gov']);

function labelEnd(
  tokens: readonly Token[],
  from: number,
  isPrinted: boolean,
): { end: number; isLast: boolean } | undefined {
  const token = tokens[from];
  if (!isWordLike(token) || token === undefined) return undefined;
  if (token.text.length > 1)
    return { end: from, isLast: (isPrinted && token.kind === 'word') || LAST_LABELS.has(token.text) };
  let text = '';
  let end = from;
  for (let index = from; index < from + SPELT_MAX && tokens[index]?.text.length === 1; index++) {
    if (tokens[index]?.kind !== 'word') break;
    text += tokens[index]?.text;
    if (LAST_LABELS.has(text)) end = index;
  }
  return { end, isLast: end > from };
}

/**
 * The first token of what may become an address when the text continues. `isSure`: only what is one for sure, since waiting for the
 * next words costs time.
 */
export function openEmail({ tokens }: Reading, isSure: boolean, behind: number): number | undefined {
  const last = tokens.length - 1;
  const until = Math.max(1, last - 2 * LABELS_MAX - DOMAIN_WORDS_MAX);
  for (let at = last; at >= until && (tokens[at] as Token).from >= behind; at--) {
    if (!isAt(tokens, at) || !isUnfinished(tokens, afterAt(tokens, at))) continue;
    const first = localStart(tokens, at, 0);
    if (first === undefined) continue;
    const isCertain = tokens[at]?.text === '@' || hasJoint(tokens, first, at) || hasCue(tokens, first);
    if (isCertain || !isSure) return first;
  }
  return openLocal(tokens, isSure);
}

/** Only words and dots up to the end. */
function isUnfinished(tokens: readonly Token[], from: number): boolean {
  for (let index = from; index < tokens.length; index++) {
    const token = tokens[index] as Token;
    const isEnd = index === tokens.length - 1;
    if (isNoDomain(token)) return false;
    if (token.kind === 'symbol' && token.text !== '.' && token.text !== '-' && !(isEnd && ',…'.includes(token.text)))
      return false;
  }
  return true;
}

function hasJoint(tokens: readonly Token[], from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const { text } = tokens[index] as Token;
    if (JOINT_WORDS.has(text) || text === '_') return true;
  }
  return false;
}

function hasCue(tokens: readonly Token[], at: number): boolean {
  for (let index = at - 1; index >= Math.max(0, at - CUE_TOKENS); index--) {
    if (CUES.has((tokens[index] as Token).text)) return true;
  }
  return false;
}

/** A local part alone: "john dot", "john underscore doe" and, where that is not yet certain, any last word. */
function openLocal(tokens: readonly Token[], isSure: boolean): number | undefined {
  let last = tokens.length - 1;
  while (last >= 0 && tokens[last]?.kind === 'symbol' && ',.…?!'.includes((tokens[last] as Token).text)) last--;
  const token = tokens[last];
  if (token === undefined) return undefined;
  const isJointLast = JOINT_WORDS.has(token.text) || token.text === '_';
  const at = isJointLast ? last : last + 1;
  const first = at > 0 && isWordLike(tokens[at - 1]) ? localBefore(tokens, at) : undefined;
  if (first === undefined) return undefined;
  const isJoined = isJointLast || hasJoint(tokens, first, at);
  if (isSure) return isJoined && (hasCue(tokens, first) || tokens[last]?.text === 'underscore') ? first : undefined;
  return first;
}

/** As of an address whose "at" is there. */
function localBefore(tokens: readonly Token[], at: number): number {
  const until = Math.max(0, at - LOCAL_TOKENS_MAX);
  let first = at - 1;
  for (;;) {
    const token = tokens[first] as Token;
    const before = tokens[first - 1];
    if (first - 1 < until || before === undefined) return nameIfCued(tokens, first, until);
    if (isJoint(before, token) && first - 2 >= until && isWordLike(tokens[first - 2])) first -= 2;
    else if (isWordLike(before) && isJoinedTo(before, token, false)) first--;
    else return nameIfCued(tokens, first, until);
  }
}

/** Behind words that tell of an address all of a name is held back. */
const nameIfCued = (tokens: readonly Token[], first: number, until: number): number =>
  hasCue(tokens, first) ? nameStart(tokens, first, until) : first;
