/** Of a region that scrolls and may hold nothing that takes the focus: it is reached by keyboard all the same. */
export const SCROLLING = { tabIndex: 0 } as const;
