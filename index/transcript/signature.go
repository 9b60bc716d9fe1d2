package transcript

import (
	"io/fs"
	"os"
	"strconv"
)

// Signature describes the state of files for Source.Signature: size, mtime,
// ctime and inode of each. A companion that does not exist, or is known not to and
// given as "", counts as "-".
func Signature(info fs.FileInfo, companions ...string) string {
	// By hand: every sweep does this for every file.
	b := appendStat(make([]byte, 0, 96), info)
	for _, path := range companions {
		b = append(b, '|')
		var ci fs.FileInfo
		if path != "" {
			ci, _ = os.Stat(path)
		}
		if ci != nil {
			b = appendStat(b, ci)
		} else {
			b = append(b, '-')
		}
	}
	return string(b)
}

func appendStat(b []byte, info fs.FileInfo) []byte {
	dev, ino, ctime := sysStat(info)
	b = strconv.AppendInt(b, info.Size(), 10)
	b = strconv.AppendInt(append(b, ':'), info.ModTime().UnixNano(), 10)
	b = strconv.AppendInt(append(b, ':'), ctime, 10)
	b = strconv.AppendUint(append(b, ':'), dev, 16)
	return strconv.AppendUint(append(b, ':'), ino, 16)
}

// FileID names the file behind info, so that one file met by two paths (a
// symlinked folder) is taken once. "" where the system does not tell.
func FileID(info fs.FileInfo) string {
	dev, ino, _ := sysStat(info)
	if ino == 0 {
		return ""
	}
	b := strconv.AppendUint(make([]byte, 0, 34), dev, 16)
	return string(strconv.AppendUint(append(b, ':'), ino, 16))
}
