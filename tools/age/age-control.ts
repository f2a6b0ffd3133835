/** What the control socket can ask about the age and the temperature of a served drive. */
import { equivalentMinutes } from '../../nand/physics/arrhenius.ts';
import { UsageError } from '../errors.ts';

/** The retention clock of a machine (nand/retention-clock.ts), as far as it is needed here. */
export interface AgeClock {
  readonly minute: number;
  readonly celsius: number;
  age(days: number, celsius: number): void;
  setTemperature(celsius: number): void;
}

/** How a drive is left alone. */
export interface Storage {
  readonly days: number;
  readonly celsius: number;
}

/** Where flash parts may be stored; beyond it there is no law of theirs to go by. */
export const CELSIUS_MIN = -65;
export const CELSIUS_MAX = 150;
/** Temperature at which ages are counted (JESD218). */
export const REFERENCE_CELSIUS = 30;
/** The clock counts minutes in 31 bits. */
const MINUTES_MAX = 2 ** 31 - 4;
const MINUTES_PER_YEAR = 525_600;

type Request = Readonly<Record<string, unknown>>;
type Verb = (clock: AgeClock, request: Request) => object;

const VERBS: Readonly<Record<string, Verb>> = {
  age: (clock, request) => {
    const storage = checkStorage(request, clock.minute);
    const before = clock.minute;
    clock.age(storage.days, storage.celsius);
    return { ...storage, agedMinutes: clock.minute - before, minute: clock.minute };
  },
  temperature: (clock, request) => {
    clock.setTemperature(celsiusOf(request, undefined));
    return { celsius: clock.celsius, minute: clock.minute };
  },
};

/** Names of the requests, for the server's list of commands. */
export const AGE_VERBS: readonly string[] = Object.keys(VERBS);

/**
 * Carries a request of `AGE_VERBS` out, at once and between two events.
 * @returns the fields of the answer
 * @throws UsageError with the sentence for the client
 */
export function ageControl(clock: AgeClock, request: Request): object {
  return VERBS[request.cmd as string]!(clock, request);
}

/**
 * Days and temperature of a request, fit for a clock that stands at `minute`.
 * @throws UsageError naming the field
 */
export function checkStorage(request: Request, minute: number): Storage {
  const { days } = request;
  if (typeof days !== 'number' || !Number.isFinite(days) || days < 0) {
    const shown = JSON.stringify(days) ?? 'missing';
    throw new UsageError(`"days" must be a number from 0, not ${shown}`);
  }
  const celsius = celsiusOf(request, REFERENCE_CELSIUS);
  const minutes = equivalentMinutes(days, celsius);
  if (minute + minutes > MINUTES_MAX) {
    const years = Math.floor(MINUTES_MAX / MINUTES_PER_YEAR);
    const age = (minutes / MINUTES_PER_YEAR).toPrecision(2);
    const what = `"days": ${days} days at ${celsius} C age it by ${age} years at 30 C`;
    throw new UsageError(`${what}; a drive gets ${years} years old at most`);
  }
  return { days, celsius };
}

function celsiusOf(request: Request, otherwise: number | undefined): number {
  const celsius = request.celsius ?? otherwise;
  if (typeof celsius === 'number' && celsius >= CELSIUS_MIN && celsius <= CELSIUS_MAX) {
    return celsius;
  }
  const shown = JSON.stringify(celsius) ?? 'missing';
  const right = `a number from ${CELSIUS_MIN} to ${CELSIUS_MAX}`;
  throw new UsageError(`"celsius" must be ${right}, not ${shown}`);
}
