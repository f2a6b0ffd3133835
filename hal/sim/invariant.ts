/**
 * Invariants: rules whose breaking is our bug, never the media's fault.
 *
 * The rule is one constant sentence, stated positively; a template string here would cost ten times
 * as much as the check itself on the hot path.
 */

/** A rule of the emulator was broken; the message is the rule. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/**
 * Throws {@link InvariantBroken} unless `holds`.
 *
 * @param rule one constant sentence that says what must be so
 */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new InvariantBroken(rule);
}
