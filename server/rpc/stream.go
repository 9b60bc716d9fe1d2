package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

const (
	// maxSkip is the largest body that is skipped when it is over the limit of a
	// message. A length beyond it is no length, but a stream gone wrong.
	maxSkip = 1 << 30
	// maxBatch bounds a JSON-RPC batch in bytes. The answers of a batch are held until the
	// last one is there, and the protocol has no batches; a few are answered anyway.
	maxBatch = 16 << 10
	// keepBuffer is the largest buffer kept from one message to the next.
	keepBuffer = 1 << 20
	// maxBacklog is the number of bytes of answers that may wait for the
	// client to read before no further request is started.
	maxBacklog = 16 << 20
	// lastWord bounds the wait for the error answer that precedes the end of
	// an unreadable stream.
	lastWord = time.Second
)

// stream implements jsonrpc2.Stream, and the optional ReadFrame and WriteFrame by
// which the library reads and writes batches, in LSP framing. It differs from the
// library's own stream in what it bounds: header lines, the memory of a body
// (which grows with what arrives, not with what was announced, and is given back),
// batches, and the backlog of answers. And it tells when reading and writing end,
// which the library tells only after the last request has returned.
type stream struct {
	in         *bufio.Reader
	maxMessage int
	body       []byte // the last frame; reused
	err        error  // why reading ended; written before ended is closed

	ended  chan struct{} // closed when nothing more can be read
	closed chan struct{} // closed by Close
	once   sync.Once

	outMu sync.Mutex // one message at a time
	out   io.Writer
	buf   []byte

	backlogMu sync.Mutex
	backlog   int           // bytes of messages that wait for outMu or are being written
	drained   chan struct{} // closed and replaced whenever backlog shrinks
	writeErr  error
	broken    chan struct{} // closed on the first failed write
}

func newStream(in io.Reader, out io.Writer, maxMessage int) *stream {
	return &stream{
		in:         bufio.NewReaderSize(in, maxHeaderLine),
		maxMessage: maxMessage,
		out:        out,
		ended:      make(chan struct{}),
		closed:     make(chan struct{}),
		drained:    make(chan struct{}),
		broken:     make(chan struct{}),
	}
}

// Read implements jsonrpc2.Stream. The library reads through ReadFrame.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	return msg, n, err
}

// ReadFrame returns the body of the next message, valid until the next call. A
// message over the limit is skipped and answered. When nothing more can be read
// it closes ended and returns only after Close: the library refuses to write
// answers once its reader has failed, and the answers of running requests are
// still wanted.
func (s *stream) ReadFrame(context.Context) ([]byte, int64, error) {
	for {
		body, err := s.nextBody()
		if err == nil {
			err = checkEnvelope(body)
		}
		var refused *refusedError
		switch {
		case err == nil:
			return body, int64(len(body)), nil
		case errors.As(err, &refused) && !refused.fatal:
			s.answerUnread(refused)
			continue
		case refused != nil:
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				s.answerUnread(refused)
			}()
			select {
			case <-answered:
			case <-time.After(lastWord):
			}
		}
		s.err = err
		close(s.ended)
		<-s.closed
		return nil, 0, err
	}
}

// nextBody reads one header block and the body it announces.
func (s *stream) nextBody() ([]byte, error) {
	n, err := readHeader(s.in)
	if err != nil {
		return nil, err
	}
	if n > s.maxMessage {
		if _, err := io.CopyN(io.Discard, s.in, int64(n)); err != nil {
			return nil, truncated(err)
		}
		return nil, refuse(false, jsonrpc2.InvalidRequest, "a message of %d bytes is over the limit of %d", n, s.maxMessage)
	}
	return s.readBody(n)
}

// readBody reads a body of n bytes. Memory grows with what arrives.
func (s *stream) readBody(n int) ([]byte, error) {
	if cap(s.body) > keepBuffer {
		s.body = nil
	}
	body := s.body[:0]
	for len(body) < n {
		have := len(body)
		body = slices.Grow(body, min(n-have, max(have, 64<<10)))
		body = body[:min(n, cap(body))]
		if _, err := io.ReadFull(s.in, body[have:]); err != nil {
			return nil, truncated(err)
		}
	}
	s.body = body
	return body, nil
}

// checkEnvelope refuses what the library would answer by ending the connection
// silently, and batches whose answers could grow without bound.
func checkEnvelope(body []byte) error {
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 && b[0] == '[' {
		if len(b) > maxBatch {
			return refuse(false, jsonrpc2.InvalidRequest, "a batch of %d bytes is over the limit of %d", len(b), maxBatch)
		}
		if _, err := jsonrpc2.ParseRequests(body); err != nil {
			return refuse(true, jsonrpc2.ParseError, "unreadable batch: %v", err)
		}
		return nil
	}
	if _, err := jsonrpc2.DecodeMessage(body); err != nil {
		code := jsonrpc2.ParseError
		if errors.Is(err, jsonrpc2.ErrInvalidRequest) {
			code = jsonrpc2.InvalidRequest
		}
		return refuse(true, code, "unreadable message: %v", err)
	}
	return nil
}

// refusedError says that a message was not taken, and whether the stream can still be
// trusted after it.
type refusedError struct {
	wire  *jsonrpc2.Error
	fatal bool
}

func (e *refusedError) Error() string { return e.wire.Message }

func refuse(fatal bool, code jsonrpc2.Code, format string, args ...any) error {
	return &refusedError{wire: jsonrpc2.NewError(code, fmt.Sprintf(format, args...)), fatal: fatal}
}

// answerUnread answers a message whose id is unknown, with the id null.
func (s *stream) answerUnread(r *refusedError) {
	_ = s.send(jsonrpc2.AppendResponse(nil, jsonrpc2.ID{}, nil, r.wire))
}

// truncated names an end of input inside a message.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("input ended inside a message: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading a message: %w", err)
}

// Write implements jsonrpc2.Stream. It ignores ctx: a response is owed even if its request
// was cancelled, and a message once begun must be finished.
func (s *stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	body := jsonrpc2.AppendMessage(nil, msg)
	return int64(len(body)), s.send(body)
}

// WriteFrame writes an encoded body, a batch of answers.
func (s *stream) WriteFrame(_ context.Context, body []byte) (int64, error) {
	return int64(len(body)), s.send(body)
}

// send frames body and writes it with one Write.
func (s *stream) send(body []byte) error {
	s.addBacklog(len(body))
	defer s.addBacklog(-len(body))
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if err := s.writeError(); err != nil {
		return err
	}
	buf := fmt.Appendf(s.buf[:0], "Content-Length: %d\r\n\r\n", len(body))
	buf = append(buf, body...)
	if s.buf = buf; cap(buf) > keepBuffer {
		s.buf = nil
	}
	if _, err := s.out.Write(buf); err != nil {
		// After a partial write the stream is out of step for good.
		err = fmt.Errorf("writing a message: %w", err)
		s.backlogMu.Lock()
		s.writeErr = err
		s.backlogMu.Unlock()
		close(s.broken)
		return err
	}
	return nil
}

func (s *stream) addBacklog(n int) {
	s.backlogMu.Lock()
	defer s.backlogMu.Unlock()
	s.backlog += n
	if n < 0 {
		close(s.drained)
		s.drained = make(chan struct{})
	}
}

// waitRoom waits until the answers that the client has not read yet are fewer
// than maxBacklog bytes. So a client that asks and does not read makes
// requests wait, not answers pile up.
func (s *stream) waitRoom(ctx context.Context) error {
	for {
		s.backlogMu.Lock()
		full, drained := s.backlog >= maxBacklog, s.drained
		s.backlogMu.Unlock()
		if !full {
			return ctx.Err()
		}
		select {
		case <-drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readError tells why reading ended: io.EOF between two messages, or what went
// wrong. It is valid once ended is closed.
func (s *stream) readError() error { return s.err }

// writeError returns the first failure of a write, or nil.
func (s *stream) writeError() error {
	s.backlogMu.Lock()
	defer s.backlogMu.Unlock()
	return s.writeErr
}

// Close implements jsonrpc2.Stream. It never blocks, for the library calls it with its
// state locked, and closes no file: a read parked on standard input would not
// wake up by that, and the process is about to end anyway.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
