package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Live writes to a terminal, and keeps a block of lines below all that is written: it is drawn anew as what it says changes, what is
// written goes above it, and nothing of it stays when it is taken away. Between two calls the cursor is at the begin of the line below
// the block, so that a process that is killed leaves a terminal that can be gone on with. Its methods may be called concurrently. To what
// is no terminal it passes on what is written, and draws nothing.
type Live struct {
	size func() (columns, lines int, ok bool)

	mu      sync.Mutex // guards what follows
	w       io.Writer
	block   []string
	drawn   []int // how many columns each line takes that is drawn now
	partial bool  // what was written last does not end a line, so that there is no place for the block
	closed  bool
}

// NewLive returns a writer to a file.
func NewLive(f *os.File) *Live {
	_, _, ok := sizeOf(f)
	if ok {
		conn, err := f.SyscallConn()
		if err == nil {
			err = conn.Control(func(fd uintptr) { ok = acts(fd) })
		}
		ok = ok && err == nil
	}
	l := &Live{w: f, size: func() (int, int, bool) { return 0, 0, false }}
	if ok {
		l.size = func() (int, int, bool) { return sizeOf(f) }
	}
	return l
}

// Terminal says whether the block is drawn.
func (l *Live) Terminal() bool {
	_, _, ok := l.size()
	return ok
}

// Room is how many columns and lines a block may have; what takes more is cut.
func (l *Live) Room() (columns, lines int) {
	columns, lines, _ = l.size()
	if columns <= 0 {
		columns = DefaultColumns
	}
	if lines <= 0 {
		lines = 24
	}
	return max(columns-1, 1), max(lines-2, 1)
}

// Write writes p above the block.
func (l *Live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	var b bytes.Buffer
	if len(l.drawn) > 0 {
		l.up(&b)
		b.WriteString("\x1b[J")
		l.drawn = nil
	}
	b.Write(p)
	l.partial = p[len(p)-1] != '\n'
	if !l.partial && len(l.block) > 0 {
		l.draw(&b)
	}
	if _, err := l.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Draw puts lines in the place of those of the block; none takes it away.
func (l *Live) Draw(lines ...string) {
	if !l.Terminal() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.block = slices.Clone(lines)
	if l.partial || len(lines) == 0 && len(l.drawn) == 0 {
		return
	}
	var b bytes.Buffer
	l.up(&b)
	l.draw(&b)
	_, _ = l.w.Write(b.Bytes()) // it is nothing that anybody relies on
}

// Without takes the block away while f writes whole lines to the same terminal by another way. Others may write meanwhile: f can be held
// up for as long as somebody has stopped the output.
func (l *Live) Without(f func()) {
	l.mu.Lock()
	if len(l.drawn) > 0 {
		var b bytes.Buffer
		l.up(&b)
		b.WriteString("\x1b[J")
		l.drawn = nil
		_, _ = l.w.Write(b.Bytes())
	}
	was := l.partial
	l.partial = true // so that nothing is drawn
	l.mu.Unlock()
	f()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.partial = was; was || len(l.block) == 0 {
		return
	}
	var b bytes.Buffer
	l.up(&b)
	l.draw(&b)
	_, _ = l.w.Write(b.Bytes())
}

// Close takes the block away for good. What is written afterwards is passed on.
func (l *Live) Close() {
	l.Draw()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// up goes to the begin of the block, as it is drawn. A terminal that has become narrower since has broken its lines.
func (l *Live) up(b *bytes.Buffer) {
	columns, rows := 0, 0
	if columns, _, _ = l.size(); columns <= 0 {
		columns = DefaultColumns
	}
	for _, n := range l.drawn {
		rows += max((n+columns-1)/columns, 1)
	}
	b.WriteByte('\r')
	if rows > 0 {
		fmt.Fprintf(b, "\x1b[%dA", rows)
	}
}

// draw writes the block from where the cursor is, and takes away what was below.
func (l *Live) draw(b *bytes.Buffer) {
	columns, lines := l.Room()
	l.drawn = l.drawn[:0]
	for _, line := range l.block[:min(len(l.block), lines)] {
		line = Cut(line, columns)
		b.WriteString(line + "\x1b[K\n")
		l.drawn = append(l.drawn, Columns(line))
	}
	b.WriteString("\x1b[J")
}
