/**
 * Arrhenius: how much faster charge leaks at another temperature than at 30 C.
 *
 * AF = exp(Ea/k * (1/303.15 - 1/(T + 273.15))), Ea = 1.1 eV for detrapping. Source: JESD218.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { exactExp } from './exact-math.ts';

const ACTIVATION_EV = 1.1;
const BOLTZMANN_EV_PER_K = 8.617e-5;
const KELVIN = 273.15;
export const REFERENCE_CELSIUS = 30;
const MINUTES_PER_DAY = 1440;

/** Days at 30 C that one day at `celsius` equals. */
export function accelerationFactor(celsius: number): number {
  invariant(celsius > -KELVIN, 'a temperature lies above absolute zero');
  const reference = 1 / (REFERENCE_CELSIUS + KELVIN);
  return exactExp((ACTIVATION_EV / BOLTZMANN_EV_PER_K) * (reference - 1 / (celsius + KELVIN)));
}

/** Whole minutes at 30 C that `days` at `celsius` equal: the age that the error model takes. */
export function equivalentMinutes(days: number, celsius: number): number {
  return Math.floor(days * MINUTES_PER_DAY * accelerationFactor(celsius));
}
