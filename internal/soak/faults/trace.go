package faults

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// traceArgs let strace write down everything that can reach a disk, with every byte, and what is told to standard output.
var traceArgs = []string{
	"strace", "-f", "-y", "-xx", "-s", "16777216", "-e", "signal=none",
	"-e", "trace=openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat",
}

// op is one change of a file system, or what makes earlier ones last.
type op struct {
	kind     string // write, truncate, sync, lost (a sync that failed), create, mkdir, rename, unlink, ack
	path, to string
	at       int64
	data     []byte
}

// A traced call is "PID NAME(ARGS) = RESULT", or comes in two lines when another thread's lies between.
var (
	tracedCall    = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$`)
	tracedString  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	tracedFile    = regexp.MustCompile(`^(\d+)<((?:\\x[0-9a-f]{2})*)>`)
	tracedNumbers = regexp.MustCompile(`, (\d+)(?:, (\d+))?\) += `)
	tracedResult  = regexp.MustCompile(`\) += (-?\d+)`)
)

const unfinished = " <unfinished ...>"

// parseTrace reads what strace wrote about the files below a directory. Failed calls are left out.
func parseTrace(r io.Reader, below string) (ops []op, err error) {
	begun := map[string]string{} // by process: a call that has not ended
	written := map[string]int64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		m := tracedCall.FindStringSubmatch(lines.Text())
		if m == nil {
			continue // a process that has ended
		}
		key, text := m[1], m[3]
		if args, ok := strings.CutSuffix(text, unfinished); ok {
			begun[key] = args
			continue
		}
		if strings.Contains(lines.Text()[:min(len(lines.Text()), 40)], "<... ") {
			text = begun[key] + text
			delete(begun, key)
		}
		o, ok, err := parseCall(m[2], text, written)
		if err != nil {
			return nil, fmt.Errorf("read the trace: %w in %.200s", err, lines.Text())
		}
		if ok && (o.kind == "ack" || strings.HasPrefix(o.path, below+string(filepath.Separator)) || o.path == below) {
			ops = append(ops, o)
		}
	}
	return ops, lines.Err()
}

// parseCall understands one call. written are the positions of files that are written from their beginning to their end.
func parseCall(name, text string, written map[string]int64) (o op, ok bool, err error) {
	result := tracedResult.FindAllStringSubmatch(text, -1)
	if m := tracedFile.FindStringSubmatch(text); m != nil && strings.HasSuffix(name, "sync") && strings.Contains(text, "(INJECTED)") {
		path, err := unhex(m[2])
		return op{kind: "lost", path: path}, err == nil, err
	}
	if len(result) == 0 || strings.HasPrefix(result[len(result)-1][1], "-") {
		return o, false, nil
	}
	var texts []string
	for _, m := range tracedString.FindAllStringSubmatch(text, 2) {
		s, err := unhex(m[1])
		if err != nil {
			return o, false, err
		}
		texts = append(texts, s)
	}
	file, fd := "", ""
	if m := tracedFile.FindStringSubmatch(text); m != nil {
		fd = m[1]
		if file, err = unhex(m[2]); err != nil {
			return o, false, err
		}
	}
	want := func(strings int) error {
		if len(texts) < strings {
			return fmt.Errorf("%s with %d texts, want %d", name, len(texts), strings)
		}
		return nil
	}
	switch name {
	case "openat":
		if err := want(1); err != nil || !strings.Contains(text, "O_CREAT") {
			return o, false, err
		}
		delete(written, texts[0])
		return op{kind: "create", path: texts[0]}, true, nil
	case "mkdir", "mkdirat":
		return one("mkdir", texts, want(1))
	case "unlink", "unlinkat":
		return one("unlink", texts, want(1))
	case "rename", "renameat", "renameat2":
		if err := want(2); err != nil {
			return o, false, err
		}
		written[texts[1]] = written[texts[0]]
		return op{kind: "rename", path: texts[0], to: texts[1]}, true, nil
	case "fsync", "fdatasync":
		return op{kind: "sync", path: file}, true, nil
	case "ftruncate":
		m := tracedNumbers.FindStringSubmatch(text)
		if m == nil {
			return o, false, fmt.Errorf("no length")
		}
		at, err := strconv.ParseInt(m[1], 10, 63)
		return op{kind: "truncate", path: file, at: at}, err == nil, err
	case "pwrite64", "write":
		if err := want(1); err != nil {
			return o, false, err
		}
		if fd == "1" {
			return op{kind: "ack", data: []byte(texts[0])}, true, nil
		}
		o = op{kind: "write", path: file, data: []byte(texts[0]), at: written[file]}
		if name == "write" {
			written[file] += int64(len(o.data))
			return o, true, nil
		}
		m := tracedNumbers.FindStringSubmatch(text)
		if m == nil || m[2] == "" {
			return o, false, fmt.Errorf("no position")
		}
		o.at, err = strconv.ParseInt(m[2], 10, 63)
		return o, err == nil, err
	}
	return o, false, nil
}

func one(kind string, texts []string, err error) (op, bool, error) {
	if err != nil {
		return op{}, false, err
	}
	return op{kind: kind, path: texts[0]}, true, nil
}

func unhex(s string) (string, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	return string(b), err
}
