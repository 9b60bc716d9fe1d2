//go:build unix

package transcript

import (
	"io/fs"
	"syscall"
)

func sysStat(info fs.FileInfo) (dev, ino uint64, ctimeNs int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), st.Ino, ctime(st)
}
