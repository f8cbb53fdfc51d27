package faults

import (
	"strings"
	"testing"
)

func TestATraceIsRead(t *testing.T) {
	const text = `7 mkdirat(AT_FDCWD<\x2f>, "\x2f\x64", 0700) = 0
7 openat(AT_FDCWD<\x2f>, "\x2f\x64\x2f\x66", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 9<\x2f\x64\x2f\x66>
7 pwrite64(9<\x2f\x64\x2f\x66>, "\x61\x62", 2, 4096 <unfinished ...>
8 write(11<\x2f\x64\x2f\x67>, "\x63", 1) = 1
8 write(11<\x2f\x64\x2f\x67>, "\x63", 1) = 1
7 <... pwrite64 resumed>)                 = 2
7 ftruncate(9<\x2f\x64\x2f\x66>, 8192) = 0
7 fdatasync(9<\x2f\x64\x2f\x66>) = -1 EIO (Input/output error) (INJECTED)
7 fsync(9<\x2f\x64>) = 0
7 renameat(AT_FDCWD<\x2f>, "\x2f\x64\x2f\x66", AT_FDCWD<\x2f>, "\x2f\x64\x2f\x68") = 0
7 unlinkat(AT_FDCWD<\x2f>, "\x2f\x64\x2f\x68", 0) = -1 ENOENT (No such file or directory)
7 write(1<\x70>, "\x41\x43\x4b", 3) = 3
7 write(5<\x2f\x65>, "\x41", 1) = 1
7 +++ exited with 0 +++
`
	ops, err := parseTrace(strings.NewReader(text), "/d")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range ops {
		got = append(got, strings.TrimSpace(o.kind+" "+o.path+" "+o.to+" "+string(o.data)))
	}
	want := "mkdir /d|create /d/f|write /d/g  c|write /d/g  c|write /d/f  ab|truncate /d/f|lost /d/f|sync /d|rename /d/f /d/h|ack   ACK"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if ops[3].at != 1 || ops[4].at != 4096 || ops[5].at != 8192 {
		t.Errorf("positions %d, %d and %d, want 1, 4096 and 8192", ops[3].at, ops[4].at, ops[5].at)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add(`7 pwrite64(9<\x2f\x64\x2f\x66>, "\x61\x62", 2, 4096) = 2`)
	f.Add("7 <... fsync resumed>) = 0")
	f.Add(`7 renameat(AT_FDCWD<\x2f>, "\x2f") = 0`)
	f.Fuzz(func(t *testing.T, text string) {
		ops, err := parseTrace(strings.NewReader(text), "/d")
		for _, o := range ops {
			if err == nil && o.at < 0 {
				t.Errorf("%q is read as %+v", text, o)
			}
		}
	})
}

// What is not synced may be there or not, in any combination, and what is synced is there.
func TestImagesAreAllThatACrashMayLeave(t *testing.T) {
	m := &model{names: map[string]*file{}, now: map[string]*file{}}
	dir := "/x/" + imageDir
	m.names[dir], m.now[dir] = nil, nil
	for _, o := range []op{
		{kind: "create", path: dir + "/a"}, {kind: "write", path: dir + "/a", data: []byte("old")},
		{kind: "sync", path: dir + "/a"}, {kind: "sync", path: dir},
		{kind: "write", path: dir + "/a", data: []byte("new")}, {kind: "rename", path: dir + "/a", to: dir + "/b"},
	} {
		m.step(o)
	}
	seen := map[string]int{}
	m.images(nil, func(image map[string]*file, _ int) bool {
		for path, f := range image {
			seen[path+" "+string(f.content)]++
		}
		return true
	})
	for _, want := range []string{"a old", "a new", "b old", "b new"} {
		if seen[dir+"/"+want] != 1 {
			t.Errorf("%s is in %d images, want 1: %v", want, seen[dir+"/"+want], seen)
		}
	}
	m.step(op{kind: "lost", path: dir + "/b"})
	m.images(nil, func(image map[string]*file, _ int) bool {
		for path, f := range image {
			if string(f.content) != "old" {
				t.Errorf("%s has %q, which a failed sync has lost", path, f.content)
			}
		}
		return true
	})
}
