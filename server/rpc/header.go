package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxHeaderLine bounds one header line, in bytes, its end included.
	maxHeaderLine = 4 << 10
	// maxHeader bounds the header block of one message.
	maxHeader = 16 << 10
)

// errHeader is the root of every complaint about a header.
var errHeader = errors.New("malformed message header")

// readHeader reads a header block and returns its Content-Length, 1…maxSkip.
// Field names are matched whatever their case, lines may end in CR LF or LF, and
// other fields are ignored. It returns io.EOF unwrapped when the input ends
// before the first byte. r must have a buffer of maxHeaderLine bytes.
func readHeader(r *bufio.Reader) (length int, err error) {
	for read := 0; ; {
		line, err := r.ReadSlice('\n')
		read += len(line)
		switch {
		case err == io.EOF && read == 0:
			return 0, io.EOF
		case errors.Is(err, bufio.ErrBufferFull), read > maxHeader:
			return 0, fmt.Errorf("%w: longer than %d bytes a line or %d in all", errHeader, maxHeaderLine, maxHeader)
		case err != nil:
			return 0, truncated(err)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			if length == 0 {
				return 0, fmt.Errorf("%w: no Content-Length", errHeader)
			}
			return length, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return 0, fmt.Errorf("%w: no colon in %.80q", errHeader, line)
		}
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
			if err != nil || n == 0 || n > maxSkip {
				return 0, fmt.Errorf("%w: Content-Length %.40q is not 1…%d", errHeader, value, maxSkip)
			}
			length = int(n)
		}
	}
}
