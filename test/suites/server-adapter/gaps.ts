/** Where a server is known to fall short of the contract; every gap has a test that shows what happens instead. */
export interface AdapterGaps {
  /** HTTP/1.0 is answered 505. */
  http10?: true;
  /** Broken heads that get no answer, by their names in requests.ts; the header timeout ends them. */
  unanswered?: readonly string[];
  /** Requests that are read though they are broken, by their names in framing.ts. */
  readBroken?: readonly string[];
  /** The library refuses heads by itself, with a page of its own. */
  ownPages?: true;
  /** A request with more than 97 headers is refused with 431; no handler hears of it. */
  fewHeaders?: true;
  /** A head that stops is closed without an answer, after the library's own time for it. */
  silentTimeouts?: true;
  /** An empty line before a request is taken for its beginning, and never answered. */
  emptyLines?: true;
  /** The connection ends with the answer to a body in chunks, and a trailer is refused as a broken request. */
  trailers?: true;
  /** A second request before the first is answered costs the connection. */
  pipelining?: true;
  /** A socket that sends too fast is read all the same: the library cannot pause it. */
  readsOn?: true;
  /** Large messages are gathered all at once: the library does not tell of one before it is whole. */
  gathersAll?: true;
  /** A message over twice the limit costs the connection before anybody can say why. */
  cutsHuge?: true;
  /** Broken frames that do not end the connection, by their names in frames.ts. */
  framesLetPass?: readonly string[];
}

/** The gaps of uWebSockets.js. */
export const UWS_GAPS: AdapterGaps = {
  silentTimeouts: true,
  emptyLines: true,
  trailers: true,
  pipelining: true,
  readsOn: true,
  gathersAll: true,
  cutsHuge: true,
  framesLetPass: ['a frame without a mask'],
  http10: true,
  unanswered: ['a bare CR in a value'],
  readBroken: ['an empty header name', 'a chunk longer than its size'],
  ownPages: true,
  fewHeaders: true,
};

export interface Difference {
  what: string;
  node: string;
  uws: string;
}

/** The rows of the table in docs/operations/platforms.md, one for each gap; test/docs/adapter-differences.test.ts compares them. */
export const DIFFERENCES: Readonly<Record<keyof AdapterGaps, Difference>> = {
  http10: { what: 'HTTP/1.0', node: 'served', uws: '505' },
  unanswered: {
    what: 'a head that is not HTTP',
    node: '400 at once',
    uws: '400 or 505 at once; a bare carriage return: no answer',
  },
  readBroken: {
    what: 'a header without a name, or a chunk that is longer than its size',
    node: '400',
    uws: 'that header and all headers after it, or the extra bytes, are ignored',
  },
  ownPages: {
    what: 'the error body for such a head, or for two `Host` headers',
    node: 'the usual JSON',
    uws: 'a page of the library',
  },
  fewHeaders: {
    what: 'more than 97 headers',
    node: 'served, up to 8 KiB',
    uws: '431',
  },
  silentTimeouts: {
    what: 'a head that does not arrive in time',
    node: '408',
    uws: 'connection closed without an answer',
  },
  emptyLines: {
    what: 'an empty line before a request',
    node: 'ignored',
    uws: 'no answer; connection closed after about 30 s',
  },
  trailers: {
    what: 'a body in chunks',
    node: 'trailers are ignored; the connection can be used again',
    uws: '505 to trailers; the connection is closed after the answer',
  },
  pipelining: {
    what: 'a second request before the first is answered',
    node: 'answered in turn',
    uws: 'connection closed',
  },
  readsOn: {
    what: 'a socket that sends faster than its limits',
    node: 'waits unread',
    uws: 'read anyway; more than a million frames below 128 bytes at full speed close it with 4100',
  },
  gathersAll: {
    what: 'messages over 1 MiB, many at a time',
    node: '`VOXGATE_LARGE_MESSAGES_MAX` are gathered at a time, half of them for one organisation; others wait unread',
    uws: '`VOXGATE_LARGE_MESSAGE_SOCKETS_MAX` open sockets may send them, half of them of one organisation; others take 1 MiB, as `session_started` says, and are cut off beyond 2 MiB',
  },
  cutsHuge: {
    what: 'a message over twice `VOXGATE_BINARY_FRAME_BYTES_MAX`',
    node: '`error` event, then 1009',
    uws: 'connection closed (1006)',
  },
  framesLetPass: { what: 'a frame without a mask', node: 'connection closed', uws: 'taken' },
};
