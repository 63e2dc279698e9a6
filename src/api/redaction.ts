// What the gateway itself redacts, in the text of any model. Separate from the schemas, whose library is more than code that works with
// classes needs.

/** Classes that the gateway finds. */
const OWN_CLASSES = ['card', 'iban', 'phone', 'email', 'national_id', 'date_of_birth'] as const;

/** Classes that a service of the operator's finds: see `VOXGATE_REDACTION_URL`. */
export const SERVICE_CLASSES = ['name', 'address'] as const;
export type ServiceClass = (typeof SERVICE_CLASSES)[number];

export const REDACTION_CLASSES = [...OWN_CLASSES, ...SERVICE_CLASSES] as const;
export type RedactionClass = (typeof REDACTION_CLASSES)[number];

/** Kinds that vendors find, by names that several of them have. */
export const VENDOR_REDACTIONS = ['pii', 'pci', 'phi', 'numbers'] as const;
export type VendorRedaction = (typeof VENDOR_REDACTIONS)[number];

/** What the gateway finds of a vendor's kind, in addition to what the model does. */
const IMPLIED: Readonly<Record<VendorRedaction, readonly RedactionClass[]>> = {
  pii: OWN_CLASSES,
  pci: ['card'],
  phi: [],
  numbers: [],
};

/** How long a final may wait for the rest of a number, in milliseconds. */
export const REDACT_HOLD_MS = { min: 0, max: 5_000, default: 1_500 } as const;

export const isRedactionClass = (text: string): text is RedactionClass =>
  (REDACTION_CLASSES as readonly string[]).includes(text);

export const isServiceClass = (kind: RedactionClass): kind is ServiceClass =>
  (SERVICE_CLASSES as readonly string[]).includes(kind);

export const isVendorRedaction = (text: string): text is VendorRedaction =>
  (VENDOR_REDACTIONS as readonly string[]).includes(text);

/** What stands in the place of the data. */
export const labelOf = (kind: RedactionClass): string => `[${kind.toUpperCase()}]`;

/**
 * What the gateway redacts for a request: what it names, and what its key and organisation demand. Undefined where that is nothing, so
 * that all other requests pay one check.
 */
export function classesOf(
  asked: readonly string[] | undefined,
  ...demanded: readonly (readonly RedactionClass[] | null | undefined)[]
): readonly RedactionClass[] | undefined {
  const all = new Set<RedactionClass>(demanded.flatMap((classes) => classes ?? []));
  for (const kind of asked ?? []) {
    if (isRedactionClass(kind)) all.add(kind);
    else if (isVendorRedaction(kind)) for (const implied of IMPLIED[kind]) all.add(implied);
  }
  return all.size === 0 ? undefined : REDACTION_CLASSES.filter((each) => all.has(each));
}

/** The same where there is a service: `pii` includes what it finds. */
export const withServiceClasses = (
  classes: readonly RedactionClass[] | undefined,
  asked: readonly string[] | undefined,
): readonly RedactionClass[] | undefined =>
  asked?.includes('pii') === true ? classesOf(undefined, classes, SERVICE_CLASSES) : classes;
