// Which quoting a terminal's shell needs. Pure.

import type { Shell } from '../contract';

export function shellOf(program: string): Shell {
  const name = (program.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.exe$/, '');
  if (name === 'cmd') return 'cmd';
  if (name === 'pwsh' || name === 'powershell') return 'powershell';
  return name === 'fish' ? 'fish' : 'posix';
}
