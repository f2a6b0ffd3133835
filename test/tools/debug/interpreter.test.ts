/**
 * Goal: the command language does what it says, in words a user can follow.
 * Method: scripts on the toy drive; what they print is compared line by line, or with what the
 * session underneath knows.
 */
import { describe, expect, test } from 'vitest';
import { toMermaid } from '../../../hal/sim/state-machine.ts';
import { SLOT_TABLE } from '../../../sata/slots.ts';
import { newSession } from '../../../tools/debug/debug.ts';
import { COMMANDS, Interpreter } from '../../../tools/debug/interpreter.ts';
import type { DebugSession } from '../../../tools/debug/session.ts';
import { parseOrdinal, parseTime, splitCommands } from '../../../tools/debug/words.ts';

const OPTIONS = { drive: 'toy', workload: 'mixed', commands: 3000, queueDepth: 4, seed: 'test' };

class Terminal {
  readonly session: DebugSession;
  readonly interpreter: Interpreter;
  lines: string[] = [];

  constructor(options: Partial<typeof OPTIONS> = {}) {
    this.session = newSession({ ...OPTIONS, ...options }).session;
    this.interpreter = new Interpreter(this.session, (line) => this.lines.push(line));
  }

  /** What the commands print. */
  run(commands: string): string[] {
    this.lines = [];
    this.interpreter.run(commands);
    return this.lines.join('\n').split('\n');
  }

  /** The value that `where` shows under a name. */
  where(name: string): string {
    const line = this.run('where').find((text) => text.startsWith(name));
    return line!.slice(name.length).trim();
  }
}

describe('moving', () => {
  test('the boot of a toy, from power-on', () => {
    const terminal = new Terminal();
    expect(terminal.run('run state boot=Ready')).toEqual([
      '     22.482365 ms  #331  boot  LinkUp -> Ready',
      '#331  22.482365 ms  next: host.issue in 766 ns',
    ]);
    expect(terminal.run('run state boot=ready')[0]).toBe('boot is Ready already');
  });

  test('back to an instant and forward again: same ordinal, same hash', () => {
    const terminal = new Terminal();
    terminal.run('step 2000');
    const hash = terminal.where('hash');
    terminal.run('back 700; back transition; next; run ordinal 1999; step');
    expect(terminal.where('event')).toBe('#2000');
    expect(terminal.where('hash')).toBe(hash);
    terminal.run('back to 5; run ordinal #2000');
    expect(terminal.where('hash')).toBe(hash);
  });

  test('next of one machine, and back to its previous transition', () => {
    const terminal = new Terminal();
    const [first] = terminal.run('run state die3=TransferIn');
    expect(first).toMatch(/^ +\d+\.\d{6} ms {2}#\d+ {2}die3 {2}Idle -> TransferIn {2}Program/);
    const at = terminal.session.ordinal;
    terminal.run('next die 3; back transition die3');
    expect(terminal.session.ordinal).toBe(at);
    expect(terminal.run('print die 3')).toContain('phase      TransferIn');
  });

  test('back state finds the last entry', () => {
    const terminal = new Terminal();
    terminal.run('run state die1=Programming');
    const at = terminal.session.ordinal;
    terminal.run('step 3');
    const [line] = terminal.run('back state die1=Programming');
    expect(line).toContain(`#${at}  die1  TransferIn -> Programming`);
    expect(terminal.session.ordinal).toBe(at);
  });

  test('run time takes a time since power-on or from here', () => {
    const terminal = new Terminal();
    terminal.run('run time 18.5ms; run time +500us');
    const { nowNs, nextNs } = terminal.session.drive.timeline;
    expect(nowNs).toBeGreaterThan(18_000_000);
    expect(nextNs).toBeGreaterThan(18_500_000);
  });

  test('continue stops at breakpoints, which outlive going back', () => {
    const terminal = new Terminal();
    terminal.run('break superblock=Closed; continue');
    const at = terminal.session.ordinal;
    expect(terminal.lines[1]).toBe('breakpoint 1');
    terminal.run('back to 0');
    expect(terminal.run('continue')[0]).toBe('breakpoint 1');
    expect(terminal.session.ordinal).toBe(at);
    expect(terminal.run('delete 1; break')).toEqual(['no breakpoints']);
  });

  test('a workload that has ended leaves an idle drive', () => {
    const terminal = new Terminal({ workload: 'trim', commands: 40 });
    expect(terminal.run('continue')[0]).toBe('the drive is idle, only its watchdog is pending');
    const lines = terminal.run('run state die0=Erasing');
    expect(lines[0]).toMatch(/^die0=Erasing was not reached: the drive is idle/);
  });
});

describe('looking', () => {
  test('a trace prints one line a transition, of the machines that were asked for', () => {
    const terminal = new Terminal();
    const lines = terminal.run('trace on die 0; run ordinal 600; trace off; step 50');
    const trace = lines.slice(0, -2);
    expect(trace.length).toBeGreaterThan(10);
    for (const line of trace)
      expect(line).toMatch(/^ +\d+\.\d{6} ms {2}#\d+ {2}die0 {2}\w+ -> \w+/);
    const ordinals = trace.map((line) => Number(/#(\d+)/.exec(line)![1]));
    expect(ordinals).toEqual([...ordinals].sort((a, b) => a - b));
  });

  test('registers, parts and tables', () => {
    const terminal = new Terminal();
    terminal.run('step 1000');
    const { drive } = terminal.session;
    const pending = drive.interrupts.registers().registers[0]!.read();
    const [register] = terminal.run('print ICU.INT_STS');
    expect(register).toBe(
      `0x8500_0000  ICU.INT_STS           0x0000_000${pending}  ${pending}  asserted lines`,
    );
    expect(terminal.run('print icu')).toHaveLength(5);
    expect(terminal.run('print arm')).toContain(`doing          ${drive.arm.doing}`);
    expect(terminal.run('print l2p 0 3')).toHaveLength(4);
    expect(terminal.run('print dies')).toHaveLength(5);
    expect(terminal.run('print superblock 0')).toContain('state             Root');
    expect(terminal.run('print boot')).toEqual([
      'boot is Ready',
      '  on PowerLost -> Off: the rails have fallen',
    ]);
    expect(terminal.run('print timeline')[1]).toMatch(new RegExp(`^${drive.timeline.nextName} `));
    expect(terminal.interpreter.mistakeCount).toBe(0);
  });

  test('diagrams are those of the tables', () => {
    const terminal = new Terminal();
    expect(terminal.run('diagram slot').join('\n')).toBe(toMermaid(SLOT_TABLE));
  });

  test('looking changes nothing', () => {
    const terminal = new Terminal();
    terminal.run('step 1500');
    const before = terminal.session.drive.machine.stateHash();
    terminal.run('where; info machines; info tables; info registers; info drive; print p2l; help');
    expect(terminal.session.drive.machine.stateHash()).toBe(before);
    expect(terminal.interpreter.mistakeCount).toBe(0);
  });

  test('every command has help', () => {
    const terminal = new Terminal();
    for (const { name, usage } of COMMANDS) {
      expect(terminal.run(`help ${name}`)[0]).toBe(usage[0]);
    }
  });
});

describe('mistakes', () => {
  const terminal = new Terminal();

  test.each([
    ['setp 5', "no command 'setp' (did you mean 'step'?); help lists them"],
    ['step five', "the number of events must be a whole number from 1, not 'five'"],
    ['run state die3=Programing', "die has no state 'Programing' (did you mean 'Programming'?)"],
    ['run state die=', "'die=' is no MACHINE=STATE: write it like die3=Programming"],
    ['next dei 3', "no machine 'dei 3' (did you mean 'die'?)"],
    ['next die 4', 'die 4 does not exist: this drive has 0 to 3'],
    ['next boot 1', 'there is one boot: give no number'],
    ['run time 12', "'12' is no time: write it like 12.5ms"],
    ['run time 0ns', '0ns has passed: go back first'],
    ['run', 'usage: run state MACHINE=STATE | run ordinal N | run time T'],
    ['back to 99', '#99 is ahead of here: run ordinal 99 goes there'],
    ['back 11', 'cannot go back to #-1: the history begins at #0'],
    ['back transition write-mode', 'no transition of write-mode since #0, the oldest instant'],
    ['print ICU.INT', "ICU has no register 'INT', only INT_STS"],
    ['print l2q', "nothing here is named 'l2q' (did you mean 'l2p'?)"],
    ['print', 'usage: print PART'],
    ['delete 7', 'no breakpoint 7'],
    ['trace maybe', 'usage: trace on [MACHINE] | trace off'],
    ['info tabels', 'usage: info machines|tables|registers|breakpoints|drive'],
    ['diagram dei', "did you mean 'die'? diagrams are of boot, write-mode, die, slot, superblock"],
    ['d', 'diagrams are of boot, write-mode, die, slot, superblock'],
  ])('%s', (command, sentence) => {
    terminal.run('back to 0; step 10');
    const count = terminal.interpreter.mistakeCount;
    expect(terminal.run(command).join(' ')).toContain(sentence);
    expect(terminal.interpreter.mistakeCount).toBe(count + 1);
    expect(terminal.session.ordinal).toBe(10);
  });

  test('the session goes on after one, and ends at quit', () => {
    const fresh = new Terminal();
    fresh.run('nonsense; step 3; quit; step 5');
    expect(fresh.session.ordinal).toBe(3);
    expect(fresh.interpreter.isOver).toBe(true);
  });
});

describe('words', () => {
  test('scripts are cut at semicolons and lines; comments are left out', () => {
    expect(splitCommands('step 1; next\n# a comment; step\n  back to #3 ;\n')).toEqual([
      ...['step 1', 'next', 'back to #3'],
    ]);
  });

  test('ordinals and times', () => {
    expect(parseOrdinal('#12', 5)).toBe(12);
    expect(parseOrdinal('+12', 5)).toBe(17);
    expect(parseOrdinal('1,234', 5)).toBe(1234);
    expect(parseTime('12.5ms', 7)).toBe(12_500_000);
    expect(parseTime('+3us', 7)).toBe(3007);
    expect(parseTime('2s', 0)).toBe(2e9);
  });

  test('completion knows commands, machines, states and registers', () => {
    const { interpreter } = new Terminal();
    expect(interpreter.complete('ba')).toEqual([['back'], 'ba']);
    expect(interpreter.complete('run state die=Pro')[0]).toEqual(['die=Programming']);
    expect(interpreter.complete('print ICU.INT_S')[0]).toEqual(['ICU.INT_STS']);
    expect(interpreter.complete('step 1; next di')[0]).toEqual(['die']);
    expect(interpreter.complete('nonsense ')[0]).toEqual([]);
  });
});
