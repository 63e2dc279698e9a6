/** Where a door is known to fall short of the contract; every gap has a test that shows what happens instead. */
export interface DoorGaps {
  /** A head that arrives in more than one piece may have so many bytes; beyond it the connection is closed without an answer. */
  headInPiecesBytesMax?: number;
  /** HTTP/1.0 is answered 505, or not at all. */
  http10?: 'refused' | 'unanswered';
  /** Broken heads that get no answer, by their names in requests.ts; the header timeout ends them. */
  unanswered?: readonly string[] | 'all';
  /** The library refuses heads by itself, with a page of its own. */
  ownPages?: true;
  /** A request with more than about a hundred headers is refused with 431, or gets no answer; no handler hears of it. */
  fewHeaders?: 'refused' | 'unanswered';
  /** A head or body that stops is closed without a word, by the library's own time for it. */
  silentTimeouts?: true;
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

const BOTH_BUILDS: DoorGaps = {
  silentTimeouts: true,
  pipelining: true,
  readsOn: true,
  gathersAll: true,
  cutsHuge: true,
  framesLetPass: ['a frame without a mask'],
};

/** The gaps of uWebSockets.js, by its builds. */
export const UWS_GAPS: Readonly<Record<'newest' | 'older', DoorGaps>> = {
  newest: {
    ...BOTH_BUILDS,
    http10: 'refused',
    unanswered: ['a bare CR in a value'],
    ownPages: true,
    fewHeaders: 'refused',
  },
  older: {
    ...BOTH_BUILDS,
    headInPiecesBytesMax: 4096,
    http10: 'unanswered',
    unanswered: 'all',
    fewHeaders: 'unanswered',
  },
};
