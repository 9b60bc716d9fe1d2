package cli

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestConfirm(t *testing.T) {
	for typed, want := range map[string]bool{
		"y\n": true, "Y\n": true, " yes \r\n": true, "yes": true,
		"": false, "\n": false, "n\n": false, "yess\n": false, "no\ny\n": false, strings.Repeat("y", 1<<20): false,
	} {
		var asked strings.Builder
		got, err := confirm(strings.NewReader(typed), &asked, "Sure? ")
		if err != nil || got != want || asked.String() != "Sure? " {
			t.Errorf("%.20q: %v, %v after %q", typed, got, err, asked.String())
		}
	}
	if got, err := confirm(iotest.ErrReader(errors.New("gone")), new(strings.Builder), "Sure? "); got || err == nil {
		t.Errorf("an input that fails: %v, %v", got, err)
	}
}

func TestForgetSaysWhatIsGone(t *testing.T) {
	got := run("ok", "forget", "3b0f7c52", "--yes")
	if got.code != 0 || !strings.Contains(got.out, "Forgotten with 1 sub-agent: "+cleanLine(fixedTranscript().Session.Title)) || !strings.Contains(got.out, "`sessionls clear` takes it back") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
}

// What takes long says so once; what does not says nothing.
func TestSaysWhatTakesLong(t *testing.T) {
	var said strings.Builder
	a := &app{screen: &screen{err: &said}}
	a.after(time.Hour, "moving mountains")()
	if said.Len() > 0 {
		t.Errorf("said %q", said.String())
	}
	heard, told := io.Pipe()
	a.screen.err = told
	over := a.after(0, "moving mountains")
	if line, err := bufio.NewReader(heard).ReadString('\n'); line != "moving mountains\n" {
		t.Errorf("said %q, %v", line, err)
	}
	over()
}
