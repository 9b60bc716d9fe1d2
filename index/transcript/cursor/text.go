package cursor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// maxBlock bounds what is kept of one message of a text transcript.
const maxBlock = 16 << 20

// readText reads a transcript of the first releases: messages under the lines
// "user:" and "assistant:". It has no end marks, so it is always read whole.
func readText(ctx context.Context, env transcript.Env, src transcript.Source, h hint, out transcript.Sink) (*transcript.Checkpoint, error) {
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, fmt.Errorf("read Cursor transcript: %w", err)
	}
	defer f.Close()
	b := newBuilder(ctx, env, src, h, out)
	b.h.Format = formatText
	if err := out.Begin(false); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(io.LimitReader(f, f.Size), int(min(256<<10, f.Size+1)))
	role := ""
	var block strings.Builder
	start, cut := true, false
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		piece, err := r.ReadSlice('\n')
		if word := strings.TrimRight(string(piece[:min(len(piece), 16)]), "\r\n"); start && (word == "user:" || word == "assistant:") {
			if err := b.block(role, block.String()); err != nil {
				return nil, err
			}
			role = strings.TrimSuffix(word, ":")
			block.Reset()
		} else if block.Len()+len(piece) <= maxBlock {
			block.Write(piece)
		} else {
			cut = true
		}
		start = err == nil
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("read Cursor transcript: %w", err)
		}
	}
	if err := b.block(role, block.String()); err != nil {
		return nil, err
	}
	if cut {
		b.cp.Partial = "over-long texts were cut"
	}
	out.Progress(f.Size)
	b.bytes = f.Size
	return b.finish()
}

// Lines that begin a piece of an answer.
const (
	thinkingMark = "[Thinking]"
	callMark     = "[Tool call] "
	resultMark   = "[Tool result] "
)

// block emits a message. An answer holds what was thought, calls with their
// arguments on indented lines, and results, which end at an empty line.
func (b *builder) block(role, text string) error {
	text = strings.ReplaceAll(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), "\r\n", "\n")
	if role == "" && text == "" {
		return nil
	}
	record, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("read Cursor transcript: %w", err)
	}
	e := &transcript.Event{Type: transcript.TypeOther, RawType: first(role, "text")}
	if role != "assistant" {
		b.message(role, record, e)
		return b.emit(e, record)
	}
	var prose []string
	var piece []string
	kind := ""
	var parts []transcript.Part
	end := func() {
		body := strings.TrimSpace(strings.Join(piece, "\n"))
		switch kind {
		case callMark:
			name, args, _ := strings.Cut(body, "\n")
			input := arguments(args)
			call := &transcript.Event{}
			b.call(call, transcript.CleanWord(strings.TrimSpace(name)), input)
			e.Tools = append(e.Tools, call.Tools...)
			for _, path := range call.Files {
				e.Files = transcript.AppendPath(e.Files, "", path)
			}
			parts = append(parts, call.Parts...)
		case resultMark:
			_, body, _ = strings.Cut(body, "\n")
			res := &transcript.Event{}
			res.AddText(transcript.Output, body)
			parts = append(parts, res.Parts...)
		case "":
			if body = said(body); body != "" {
				prose = append(prose, body)
			}
		}
		piece, kind = nil, ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		mark := ""
		for _, m := range []string{thinkingMark, callMark, resultMark} {
			if strings.HasPrefix(line, m) {
				mark = m
			}
		}
		switch {
		case mark != "":
			end()
			kind = mark
			piece = append(piece, strings.TrimPrefix(line, mark))
		case kind == callMark && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t"),
			(kind == thinkingMark || kind == resultMark) && strings.TrimSpace(line) == "":
			end()
			piece = append(piece, line)
		default:
			piece = append(piece, line)
		}
	}
	end()
	e.Role, e.Type = transcript.RoleAssistant, transcript.TypeAssistantMessage
	answer := strings.Join(prose, "\n\n")
	e.Message = e.AddText(transcript.Prose, answer)
	b.h.OfferTitle(answer, transcript.TitleReply, b.seq)
	if !e.Message && len(e.Tools) > 0 {
		e.Type = transcript.TypeToolCall
	}
	e.Parts = append(e.Parts, parts...)
	return b.emit(e, record)
}

// arguments makes an input of the indented lines under a call: "name: value", of
// which the value may go on in lines that are indented further or begin no other.
func arguments(text string) jsonv.Value {
	var out []byte
	key, value := "", ""
	add := func() {
		if key == "" {
			return
		}
		k, _ := json.Marshal(key)
		v, _ := json.Marshal(strings.TrimSpace(value))
		if out = append(out, ','); len(out) == 1 {
			out = []byte{'{'}
		}
		out = append(append(append(out, k...), ':'), v...)
	}
	for line := range strings.SplitSeq(text, "\n") {
		flat := strings.TrimPrefix(strings.TrimPrefix(line, "  "), "\t")
		name, rest, ok := strings.Cut(flat, ":")
		if ok && name != "" && !strings.ContainsAny(name, " \t\"'(/") {
			add()
			key, value = name, rest
			continue
		}
		if key == "" && strings.TrimSpace(flat) != "" {
			key = "-"
		}
		value += "\n" + flat
	}
	add()
	if out == nil {
		return nil
	}
	return append(out, '}')
}
