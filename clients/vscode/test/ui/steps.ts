// The steps of a sitting: each begins where the one before it has ended.

import { it } from 'node:test';
import type { Workbench } from './workbench';

/**
 * What registers a step. After one that failed the others would only say so again, so they are
 * skipped. The picture shows what it looked like then, and what is printed says it.
 */
export function steps(
  workbench: () => Workbench,
  picture: string,
): (name: string, run: () => Promise<void> | void) => void {
  let failed = false;
  return (name, run) =>
    void it(name, async (t) => {
      if (failed) {
        t.skip('a step before it failed');
        return;
      }
      try {
        await run();
      } catch (error) {
        failed = true;
        await tell(workbench(), picture);
        throw error;
      }
    });
}

/** That this fails must not hide why the step has. */
async function tell(w: Workbench, picture: string): Promise<void> {
  const mute = new Promise<string>((resolve) => setTimeout(resolve, 20_000, 'nothing: the page does not answer').unref());
  try {
    console.log(`what was to be seen when the step failed:\n${await Promise.race([w.inWords(), mute])}`);
    await w.snapshot(picture);
  } catch (error) {
    console.log(`what was to be seen cannot be told: ${String(error)}`);
  }
}
