/**
 * Goal: the state diagrams that people read are the tables that the machine obeys.
 * Method: every mermaid block of every README equals the text drawn from its table.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BOOT_TABLE } from '../firmware/boot.ts';
import { WRITE_MODE_TABLE } from '../firmware/ftl/performance-mode.ts';
import { SUPERBLOCK_TABLE } from '../firmware/ftl/superblocks.ts';
import { type MachineTable, toMermaid } from '../hal/sim/state-machine.ts';
import { DIE_TABLE } from '../nand/die-table.ts';
import { LUN_TABLE } from '../nand/onfi/lun-table.ts';
import { SLOT_TABLE } from '../sata/slots.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROOMS = ['firmware', 'hal', 'nand', 'sata', 'tools'];

/** Every diagram: the README that shows it and the table that it is drawn from, in reading order. */
const DIAGRAMS: readonly (readonly [readme: string, table: MachineTable])[] = [
  ['firmware/README.md', BOOT_TABLE],
  ['firmware/ftl/README.md', SUPERBLOCK_TABLE],
  ['firmware/ftl/README.md', WRITE_MODE_TABLE],
  ['nand/README.md', DIE_TABLE],
  ['nand/onfi/README.md', LUN_TABLE],
  ['sata/README.md', SLOT_TABLE],
];

function readmes(): string[] {
  const inRooms = ROOMS.flatMap((room) =>
    readdirSync(`${ROOT}${room}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?:^|[/\\])README\.md$/.test(name))
      .map((name) => `${room}/${name.replaceAll('\\', '/')}`),
  );
  const atTop = readdirSync(ROOT).filter((name) => name === 'README.md');
  return [...atTop, ...inRooms];
}

function mermaidBlocks(text: string): string[] {
  return [...text.matchAll(/^```mermaid\n(.*?)\n```$/gms)].map((match) => match[1]!);
}

/** As it should stand in the README, fences included. */
function block(diagram: string): string {
  return `\`\`\`mermaid\n${diagram}\n\`\`\``;
}

test('the finder of blocks sees each one and nothing else', () => {
  const text = `a\n${block('one\n  x')}\n\`\`\`ts\nb\n\`\`\`\n${block('two')}\n`;
  expect(mermaidBlocks(text)).toEqual(['one\n  x', 'two']);
});

test('every table has a README that exists', () => {
  const known = readmes();
  expect(DIAGRAMS.map(([readme]) => readme).filter((readme) => !known.includes(readme))).toEqual(
    [],
  );
});

describe('the diagrams are those of the tables', () => {
  test.each(readmes())('%s', (readme) => {
    const tables = DIAGRAMS.filter(([name]) => name === readme).map(([, table]) => table);
    const found = mermaidBlocks(readFileSync(`${ROOT}${readme}`, 'utf8'));
    expect(found.map(block)).toEqual(tables.map(toMermaid).map(block));
  });
});
