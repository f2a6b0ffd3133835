/** `bf3 serve` as a process of its own: the built program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../dist/tools/bf3.js', import.meta.url));

export interface ServedProcess {
  readonly child: ChildProcess;
  readonly ready: { readonly uri: string };
  /** Complaints so far. */
  complaints(): string;
  /** Ends it; the exit code, what it printed last, and its complaints. */
  stop(
    signal?: NodeJS.Signals,
  ): Promise<{ code: number; last: Record<string, unknown>; error: string }>;
  /** Kills it without a word. */
  kill(): Promise<void>;
}

/** The program, up to its first line. */
export async function started(args: readonly string[]): Promise<ServedProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let error = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done === true) {
    await exited;
    throw new Error(`bf3 serve ended: ${error}`);
  }
  return {
    child,
    ready: JSON.parse(first.value) as { uri: string },
    complaints: () => error,
    stop: async (signal = 'SIGINT') => {
      child.kill(signal);
      const last = await lines.next();
      const [code] = await exited;
      return { code, last: JSON.parse(String(last.value)), error };
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
