// Transitions of the session chart that several of its states have.
/** What comes of a leg that fails; and of one that was to be let go of, for what the client has asked for since. */
export const lost = { guard: 'isCurrentLeg', target: 'deciding', actions: 'noteFailure' } as const;
export const lastLost = [{ guard: 'isOutgoingLeg', target: 'replacing' }, lost] as const;

/** The leg that is open is changed, or another follows it. */
export const changed = [
  { guard: 'isInPlace', actions: 'noteConfigured' },
  { target: 'expiring', actions: 'noteConfigured' },
] as const;
