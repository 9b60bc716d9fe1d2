// Which sessionls to start: the one of the setting, else the one packed in the
// extension, else the first on PATH. Without VS Code, so that a test can say what
// there is on a disk.

import * as path from 'node:path';

export interface Surroundings {
  /** The setting; '' if unset. A leading ~ is the home directory. */
  readonly configured: string;
  /** The folder the extension is installed in. */
  readonly extensionPath: string;
  /** The variable PATH. */
  readonly searchPath: string;
  readonly home: string;
  readonly windows: boolean;
  /** Whether that path is a file that can be executed. */
  isExecutable(file: string): Promise<boolean>;
}

export type Located =
  | { readonly found: true; readonly file: string; readonly by: 'setting' | 'packed' | 'path' }
  | { readonly found: false; readonly reason: 'setting' | 'nowhere'; readonly tried: readonly string[] };

/**
 * Finds the binary. A setting that names none is not passed over silently: the user
 * asked for that one.
 */
export async function locateBinary(at: Surroundings): Promise<Located> {
  const name = at.windows ? 'sessionls.exe' : 'sessionls';
  const configured = at.configured.trim();
  if (configured !== '') {
    const file = configured.replace(/^~(?=$|[/\\])/, at.home);
    return (await at.isExecutable(file))
      ? { found: true, file, by: 'setting' }
      : { found: false, reason: 'setting', tried: [file] };
  }
  const packed = path.join(at.extensionPath, 'server', name);
  if (await at.isExecutable(packed)) return { found: true, file: packed, by: 'packed' };

  const tried = [packed];
  for (const folder of at.searchPath.split(at.windows ? ';' : ':')) {
    // A relative entry would mean another file in every folder.
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    if (await at.isExecutable(file)) return { found: true, file, by: 'path' };
    tried.push(file);
  }
  return { found: false, reason: 'nowhere', tried };
}
