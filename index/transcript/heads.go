package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// HeadSize is how many bytes of a line Heads shows.
const HeadSize = 64 << 10

// Heads calls f with the first bytes of every line of r, at most HeadSize of
// them, and the line's place and length, until f returns false. It is for
// finding ids in a file whose content does not matter: memory is bounded, nothing is
// parsed. head is valid during the call only.
func Heads(ctx context.Context, r io.Reader, offset int64, f func(head []byte, offset, length int64) bool) error {
	br := bufio.NewReaderSize(r, HeadSize)
	var kept []byte
	for n := 0; ; n++ {
		if n&63 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		chunk, err := br.ReadSlice('\n')
		length := int64(len(chunk))
		head := chunk
		if errors.Is(err, bufio.ErrBufferFull) {
			kept = append(kept[:0], chunk...)
			head = kept
			for errors.Is(err, bufio.ErrBufferFull) {
				if cerr := ctx.Err(); cerr != nil {
					return cerr
				}
				chunk, err = br.ReadSlice('\n')
				length += int64(len(chunk))
			}
		}
		if length > 0 && !f(head, offset, length) {
			return nil
		}
		offset += length
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line at byte %d: %w", offset, err)
		}
	}
}
