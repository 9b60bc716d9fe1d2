// The steps of a sitting: each begins where the one before it has ended.

import { it } from 'node:test';
import type { Workbench } from './workbench';

/**
 * What registers a step. After one that failed the others would only say so again, so they are
 * skipped. The picture shows what it looked like then.
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
        await workbench().snapshot(picture);
        throw error;
      }
    });
}
