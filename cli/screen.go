package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// maxWidth is the widest line of text: longer ones are hard to read.
const maxWidth = 112

// screen is where answers go and how they look there.
type screen struct {
	out, err io.Writer
	// pretty is the layout for people; else one line for each thing found.
	pretty bool
	// colour: SGR sequences may be used on out; errColour is the same for err.
	colour, errColour bool
	// errTerminal: a progress bar may be drawn on err.
	errTerminal bool
	// width is the number of columns to use.
	width int
	now   time.Time
}

// newScreen looks at where the output goes. mode is --color: auto, always or never.
func newScreen(opts Options, mode string) *screen {
	s := &screen{out: opts.Out, err: opts.Err, now: opts.Now(), width: 80}
	outTerminal := isTerminal(opts.Out)
	s.errTerminal = isTerminal(opts.Err)
	// https://no-color.org: any value that is not empty.
	quiet := opts.Getenv("NO_COLOR") != "" || opts.Getenv("TERM") == "dumb"
	switch mode {
	case "always":
		s.pretty, s.colour, s.errColour = true, true, true
	case "never":
		s.pretty = outTerminal
	default:
		s.pretty = outTerminal
		s.colour = outTerminal && !quiet
		s.errColour = s.errTerminal && !quiet
	}
	if opts.Getenv("TERM") == "dumb" {
		s.errTerminal = false // a bar needs to go back to the start of its line
	}
	if n, err := strconv.Atoi(opts.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	if f, ok := opts.Out.(*os.File); ok && outTerminal {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.width = w
		}
	}
	s.width = min(max(s.width, 20), maxWidth)
	return s
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// line prints spans and a line break.
func (s *screen) line(spans ...span) {
	fmt.Fprintln(s.out, paint(s.colour, spans...))
}

// say prints a plain formatted line.
func (s *screen) say(format string, args ...any) {
	fmt.Fprintf(s.out, format+"\n", args...)
}

// note prints a remark to standard error, where it disturbs no reader of the answer.
func (s *screen) note(format string, args ...any) {
	fmt.Fprintln(s.err, paint(s.errColour, span{fmt.Sprintf(format, args...), dim}))
}
