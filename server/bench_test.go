package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/rs/zerolog"
)

// BenchmarkCommand is one quick command over a pipe, from the client's bytes to
// the client's bytes.
func BenchmarkCommand(b *testing.B) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(context.Background(), Options{In: in, Out: out, Service: newFakeService(), Log: zerolog.Nop()})
	}()
	r := bufio.NewReader(fromServer)
	exchange := func(body string) {
		if _, err := fmt.Fprintf(toServer, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			b.Fatal(err)
		}
		var n int
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Discard(n); err != nil {
			b.Fatal(err)
		}
	}
	exchange(plainInitialize)
	body := execute(1, "sessionls.getPolicy")
	b.ReportAllocs()
	for b.Loop() {
		exchange(body)
	}
	toServer.Close()
	<-done
}
