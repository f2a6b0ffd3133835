/** A mistake in how the program was called: exit code 2, one sentence, no stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A run that could not be done or failed: exit code 1, one sentence, no stack trace. */
export class RunError extends Error {
  override readonly name = 'RunError';
}
