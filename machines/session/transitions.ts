// Transitions of the session chart that several of its states have.
/** What comes of a leg that fails; and of one that was to be released, for what the client has requested since. */
export const lost = { guard: 'isCurrentLeg', target: 'deciding', actions: 'noteFailure' } as const;
export const lastLost = [{ guard: 'isOutgoingLeg', target: 'replacing' }, lost] as const;

/** The leg that is open is changed, or another follows it. */
export const changed = [
  { guard: 'isInPlace', actions: 'noteConfigured' },
  { target: 'expiring', actions: 'noteConfigured' },
] as const;

/** The turn does not end on its own: where the client wants another model it is ended, so that what was heard of it is paid for. */
export const overlong = [{ guard: 'isChanging', actions: 'endTurn' }, { target: 'replacing' }] as const;
