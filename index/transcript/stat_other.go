//go:build !unix

package transcript

import "io/fs"

// sysStat has no inode to offer here; size and modification time decide.
func sysStat(fs.FileInfo) (dev, ino uint64, ctimeNs int64) { return 0, 0, 0 }
