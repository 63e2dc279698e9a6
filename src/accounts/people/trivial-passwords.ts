// Recognises trivial passwords without a list: runs of characters, and words of the page or of the address.

const PRODUCT = 'voxgate';
/** Rows of the usual keyboards, in the order in which fingers run over them. */
const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm'];
const RUN_MIN = 3;
/** What is repeated may be so long: `abcdabcd`. */
const UNIT_MAX = 4;
/** Fewer letters and digits beside a known word make no other password of it. */
const BESIDE_MIN = 4;

/** @param plain in lower case, normalised */
export function isTrivialPassword(plain: string, email: string): boolean {
  const characters = [...plain];
  if (isRepeated(characters) || isMadeOfRuns(characters)) return true;
  const known = [PRODUCT, ...wordsOf(email.toLowerCase())];
  const rest = known.reduce((left, word) => left.replaceAll(word, ''), plain);
  if (rest === plain) return false;
  const beside = [...rest].filter((character) => /[\p{L}\p{N}]/u.test(character));
  return beside.length < BESIDE_MIN || /^\d{1,4}$/.test(beside.join('')) || isMadeOfRuns(beside);
}

/** The whole address, what is before the @, the domain, and their parts; the longest first, none so short that it is in many words. */
function wordsOf(email: string): string[] {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  const words = [email, local, domain, ...local.split(/[.+_-]/), ...domain.split('.')];
  return words.filter((word) => word.length >= BESIDE_MIN).sort((a, b) => b.length - a.length);
}

function isRepeated(characters: readonly string[]): boolean {
  for (let unit = 1; unit <= UNIT_MAX; unit++) {
    if (characters.every((character, index) => character === characters[index % unit])) return true;
  }
  return false;
}

/** Whether it falls into runs such as `aaa`, `4321` and `qwer`, whatever they are. */
function isMadeOfRuns(characters: readonly string[]): boolean {
  for (let at = 0; at < characters.length; ) {
    const length = Math.max(...STEPS.map((step) => runLength(characters, at, step)));
    if (length < RUN_MIN) return false;
    at += length;
  }
  return characters.length > 0;
}

type Step = (one: string, next: string) => boolean;

const by =
  (difference: number): Step =>
  (one, next) =>
    next.codePointAt(0) === (one.codePointAt(0) as number) + difference;
const along =
  (row: string): Step =>
  (one, next) =>
    row.includes(one + next);
const reversed = (row: string): string => [...row].reverse().join('');

const STEPS: readonly Step[] = [by(0), by(1), by(-1), ...ROWS.flatMap((row) => [along(row), along(reversed(row))])];

function runLength(characters: readonly string[], from: number, step: Step): number {
  let to = from + 1;
  while (to < characters.length && step(characters[to - 1] as string, characters[to] as string)) to++;
  return to - from;
}
