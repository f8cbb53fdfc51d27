package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// TestWhatIsOpenIsReady asks about the streams, a file and what is not open.
func TestWhatIsOpenIsReady(t *testing.T) {
	p := &program{input: []byte("abc")}
	if err := p.files.mount([]toolabi.Dir{{Name: "dir", Path: "/", Write: true}}, []toolabi.Mount{{Name: "dir", Path: t.TempDir(), Write: true}}); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("12345")
	_, seekErr := file.Seek(2, io.SeekStart)
	if err := errors.Join(err, seekErr); err != nil {
		t.Fatal(err)
	}
	p.files.add(&descriptor{file: file, read: true}) // 4
	for _, tc := range []struct {
		fd     uint32
		write  bool
		bytes  uint64
		hangup bool
		errno  uint16
	}{
		{0, false, 3, false, errnoSuccess}, {0, true, 0, false, errnoBadf}, {1, true, 0, false, errnoSuccess}, {2, true, 0, false, errnoSuccess},
		{1, false, 0, false, errnoBadf}, {3, false, 0, false, errnoBadf}, {4, false, 3, false, errnoSuccess}, {4, true, 0, false, errnoBadf},
		{5, false, 0, false, errnoBadf}, {1<<32 - 1, false, 0, false, errnoBadf},
	} {
		if bytes, hangup, errno := p.poll(tc.fd, tc.write); bytes != tc.bytes || hangup != tc.hangup || errno != tc.errno {
			t.Errorf("%d, write %v: %d bytes, hangup %v, errno %d", tc.fd, tc.write, bytes, hangup, errno)
		}
	}
	p.input = nil
	if _, hangup, _ := p.poll(0, false); !hangup {
		t.Error("the input is at its end, and that is not said")
	}
}

func TestTheLengthOfAJSONStringIsKnownBeforehand(t *testing.T) {
	for _, text := range []string{"", "a\"b\\c/<>&", "\n\r\t\b\f\v\x00\x1f\x7f", "\u2028\u2029\u00e9\U0001f600\ufffd"} {
		if got, want := jsonLength([]byte(text)), len(jsonString([]byte(text))); got != want {
			t.Errorf("%q: %d bytes, it has %d", text, got, want)
		}
	}
}

func TestErrorsOfTheHostAsAGuestIsToldThem(t *testing.T) {
	at := func(err error) error { return &fs.PathError{Op: "openat", Path: "/home/someone", Err: err} }
	for _, tc := range []struct {
		err  error
		want uint32
	}{
		{nil, errnoSuccess}, {at(syscall.ENOENT), errnoNoent}, {at(syscall.EEXIST), errnoExist}, {at(syscall.ENOTEMPTY), errnoNotempty},
		{at(syscall.EACCES), errnoAcces}, {at(syscall.EPERM), errnoPerm}, {at(syscall.EISDIR), errnoIsdir}, {at(syscall.ENOSPC), errnoNospc},
		{at(syscall.EROFS), errnoRofs}, {at(syscall.EMFILE), errnoMfile}, {at(os.ErrClosed), errnoBadf}, {at(syscall.EIO), errnoIO},
		{at(errors.New("path escapes from parent")), errnoPerm}, {fmt.Errorf("wrapped: %w", at(syscall.ELOOP)), errnoLoop},
	} {
		if got := errnoOf(tc.err); got != tc.want {
			t.Errorf("%v: errno %d, want %d", tc.err, got, tc.want)
		}
	}
}
