package transcript

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory a zstd frame may ask for. Agents compress with
// windows of at most 8 MB.
const maxWindow = 64 << 20

// NewZstdReader decompresses one or more concatenated zstd frames from r with
// bounded memory and without extra goroutines. Close releases it.
func NewZstdReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("open zstd stream: %w", err)
	}
	return d.IOReadCloser(), nil
}
