package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"testing"
)

// What a new tool is given is what the tree and the module cache hold.
func TestTheArchiveHoldsThePresentSources(t *testing.T) {
	want, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("../" + archive)
	if err != nil {
		t.Fatal(err)
	}
	got := unpack(t, packed)
	for path, content := range want {
		if !bytes.Equal(got[path], content) {
			t.Errorf("%s differs", path)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is not among the sources", path)
		}
	}
	if t.Failed() {
		t.Error("the archive is not made of these sources: run go generate ./internal/scaffold")
	}
}

func TestTheSameSourcesGiveTheSameBytes(t *testing.T) {
	files := map[string][]byte{"b": []byte("two"), "a/b": []byte("one"), "a": nil}
	first, err := compress(files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := compress(maps.Clone(files))
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("they differ, %v", err)
	}
	if got := slices.Sorted(maps.Keys(unpack(t, first))); !slices.Equal(got, []string{"a", "a/b", "b"}) {
		t.Errorf("it holds %q", got)
	}
}

func unpack(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
