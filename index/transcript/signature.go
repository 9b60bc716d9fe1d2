package transcript

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Signature describes the state of files for Source.Signature: size, mtime,
// ctime and inode of each. A companion that does not exist counts as "-".
func Signature(info fs.FileInfo, companions ...string) string {
	var b strings.Builder
	writeStat(&b, info)
	for _, path := range companions {
		b.WriteByte('|')
		if ci, err := os.Stat(path); err == nil {
			writeStat(&b, ci)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func writeStat(b *strings.Builder, info fs.FileInfo) {
	dev, ino, ctime := sysStat(info)
	fmt.Fprintf(b, "%d:%d:%d:%x:%x", info.Size(), info.ModTime().UnixNano(), ctime, dev, ino)
}

// FileID names the file behind info, so that one file met by two paths (a
// symlinked folder) is taken once. "" where the system does not tell.
func FileID(info fs.FileInfo) string {
	dev, ino, _ := sysStat(info)
	if ino == 0 {
		return ""
	}
	return fmt.Sprintf("%x:%x", dev, ino)
}
