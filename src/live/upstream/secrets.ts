// What is taken out of a provider's words before anybody sees them: the credential that it was sent, in whatever writing it
// comes back.
import type { ProviderAccess } from '../../vendors/kit/provider.ts';

const REDACTED = '[redacted]';
/** Less of a credential tells nothing of it, and may be a word of its own. */
const PIECE_CHARACTERS_MIN = 6;
/** A line of a secret of several lines is a secret of its own. */
const LINE_CHARACTERS_MIN = 16;

/** Takes the secrets of one access out of texts. Made once for a connection. */
export class Scrubber {
  readonly #access: Pick<ProviderAccess, 'credential' | 'secrets'>;
  /** What the provider has given out for it. */
  #given: readonly string[] = [];
  #known: readonly string[] | undefined;

  constructor(access: Pick<ProviderAccess, 'credential' | 'secrets'>) {
    this.#access = access;
  }

  /** The provider has answered with secrets of its own: they are shown no more than the credential. */
  conceal(texts: readonly string[]): void {
    this.#given = [...this.#given, ...texts];
    this.#known = undefined;
  }

  /** Longest first, so that no part is taken before the whole. */
  get #writings(): readonly string[] {
    if (this.#known !== undefined) return this.#known;
    const { credential = '', secrets = [] } = this.#access;
    const texts = [credential, ...secrets, ...this.#given].flatMap(withLines).filter((text) => text !== '');
    this.#known = [...new Set(texts.flatMap(writingsOf))].sort((a, b) => b.length - a.length);
    return this.#known;
  }

  /** The text without the secrets: whole, or cut off with the end of the text. */
  clean(text: string): string {
    let clean = text;
    for (const writing of this.#writings) {
      clean = clean.replaceAll(writing, REDACTED);
      clean = withoutCutOff(clean, writing);
    }
    return clean;
  }

  cleanFailure<Said extends { code: string; message: string }>(said: Said): Said {
    return { ...said, code: this.clean(said.code), message: this.clean(said.message) };
  }

  /** An error of a library's as it may be logged: the same one where it says nothing of a secret. */
  cleanError(error: unknown): unknown {
    if (this.#writings.length === 0 || !(error instanceof Error)) return error;
    const said = `${error.stack ?? ''} ${error.message} ${membersOf(error)}`;
    if (this.clean(said) === said) return error;
    const clean = new Error(this.clean(error.message));
    clean.name = error.name;
    clean.stack = this.clean(error.stack ?? '');
    return clean;
  }
}

function withoutCutOff(text: string, writing: string): string {
  const longest = Math.min(text.length, writing.length - 1);
  for (let length = longest; length >= PIECE_CHARACTERS_MIN; length--)
    if (text.endsWith(writing.slice(0, length))) return text.slice(0, -length) + REDACTED;
  return text;
}

/** A secret of several lines is quoted in pieces, or with its line breaks made spaces. */
function withLines(text: string): string[] {
  if (!/\s/.test(text)) return [text];
  const lines = text.split(/\s+/).filter((line) => line.length >= LINE_CHARACTERS_MIN);
  return [text, text.replaceAll(/\p{C}+/gu, ' ').trim(), ...lines];
}

/** A secret as it is, in JSON, in a URL, and in base64 wherever it begins in what was encoded. */
function writingsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, encoded, lower, encoded.replaceAll('%20', '+'), ...base64Of(secret)];
}

/** The characters that are the secret's alone, whichever of three places of a group it begins at. */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = text.slice(from, to);
    const url = core.replaceAll('+', '-').replaceAll('/', '_');
    return core.length < PIECE_CHARACTERS_MIN ? [] : [core, url];
  });
}

/** Own members of an error, as a logger would write them. */
function membersOf(error: Error): string {
  try {
    return JSON.stringify(error, Object.getOwnPropertyNames(error)) ?? '';
  } catch {
    return '';
  }
}
