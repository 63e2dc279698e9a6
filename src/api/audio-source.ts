// Audio that a client names by its address, in the place of a file.

export interface AudioSource {
  /** As the client wrote it. Its query may be the signature of a presigned link: it is never shown or logged, and kept only sealed. */
  url: string;
  /** What the client calls it: `audio_url`, `url`, … */
  param: string;
}

/** What is shown of an address: without what may be secret. Empty where the text is not a URL. */
export function shownAddress(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
