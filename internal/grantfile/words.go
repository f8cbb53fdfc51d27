package grantfile

import (
	"fmt"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// Word is one grant as people write it: the flag without its hyphens, and the flag's value.
type Word struct{ Flag, Value string }

// kind is one flag: how a value is read into grants and how grants are written.
type kind struct {
	flag  string
	one   bool // there is at most one
	read  func(string) (hostfuncs.Grants, error)
	write func(hostfuncs.Grants) []string
}

// kinds are the flags in the order of the documentation.
var kinds = []kind{
	{flag: "allow-http", write: func(g hostfuncs.Grants) []string { return g.HTTP }, read: func(s string) (g hostfuncs.Grants, err error) {
		h, err := hostfuncs.ParseHTTPGrant(s)
		g.HTTP = []string{h.String()}
		return g, err
	}},
	{flag: "allow-net", write: func(g hostfuncs.Grants) []string { return g.Nets }, read: func(s string) (g hostfuncs.Grants, err error) {
		n, err := hostfuncs.ParseNet(s)
		g.Nets = []string{n}
		return g, err
	}},
	{flag: "secret", write: func(g hostfuncs.Grants) []string { return texts(g.Secrets) }, read: func(s string) (g hostfuncs.Grants, err error) {
		v, err := hostfuncs.ParseSecret(s)
		g.Secrets = []hostfuncs.SecretGrant{v}
		return g, err
	}},
	{flag: "set", write: func(g hostfuncs.Grants) []string { return texts(g.Config) }, read: func(s string) (g hostfuncs.Grants, err error) {
		c, err := hostfuncs.ParseConfig(s)
		g.Config = []hostfuncs.ConfigGrant{c}
		return g, err
	}},
	{flag: "allow-kv", write: func(g hostfuncs.Grants) []string { return texts(g.KV) }, read: func(s string) (g hostfuncs.Grants, err error) {
		k, err := hostfuncs.ParseKV(s)
		g.KV = []hostfuncs.KVGrant{k}
		return g, err
	}},
	{flag: "allow-artifacts", one: true, write: func(g hostfuncs.Grants) []string {
		if g.Artifacts == 0 {
			return nil
		}
		return []string{hostfuncs.FormatSize(g.Artifacts)}
	}, read: func(s string) (g hostfuncs.Grants, err error) {
		g.Artifacts, err = hostfuncs.ParseSize(s)
		return g, err
	}},
	{flag: "workspace", one: true, write: func(g hostfuncs.Grants) []string {
		if g.Workspace.Path == "" {
			return nil
		}
		return []string{g.Workspace.String()}
	}, read: func(s string) (g hostfuncs.Grants, err error) {
		g.Workspace, err = hostfuncs.ParseWorkspace(s)
		return g, err
	}},
	{flag: "mail", one: true, write: func(g hostfuncs.Grants) []string {
		if g.Mail.Server == "" {
			return nil
		}
		return []string{g.Mail.String()}
	}, read: func(s string) (g hostfuncs.Grants, err error) {
		g.Mail, err = hostfuncs.ParseMail(s)
		return g, err
	}},
	{flag: "mail-to", write: func(g hostfuncs.Grants) []string { return g.Mail.To }, read: func(s string) (g hostfuncs.Grants, err error) {
		to, err := hostfuncs.ParseMailTo(s)
		g.Mail.To = []string{to}
		return g, err
	}},
	{flag: "dir", write: func(g hostfuncs.Grants) []string { return texts(g.Dirs) }, read: func(s string) (g hostfuncs.Grants, err error) {
		d, err := hostfuncs.ParseDir(s)
		g.Dirs = []hostfuncs.DirGrant{d}
		return g, err
	}},
}

func texts[T fmt.Stringer](grants []T) (texts []string) {
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	return texts
}

func kindOf(flag string) (kind, bool) {
	for _, k := range kinds {
		if k.flag == flag {
			return k, true
		}
	}
	return kind{}, false
}

// Flags returns the names of the flags, in the order of the documentation.
func Flags() []string {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.flag)
	}
	return names
}

// Words returns what g grants, word by word, so that With of all of them grants the same.
func Words(g hostfuncs.Grants) (words []Word) {
	for _, k := range kinds {
		for _, text := range k.write(g) {
			words = append(words, Word{k.flag, text})
		}
	}
	return words
}

// Select returns those of the grants whose words are to be kept. g is valid.
func Select(g hostfuncs.Grants, keep func(Word) bool) (kept hostfuncs.Grants) {
	for _, k := range kinds {
		var ofKind hostfuncs.Grants // by itself, since a union takes as long as there is of everything
		for _, text := range k.write(g) {
			if !keep(Word{k.flag, text}) {
				continue
			}
			if one, err := k.read(text); err == nil { // as it was written from what is valid
				ofKind = ofKind.Union(one)
			}
		}
		kept = kept.Union(ofKind)
	}
	return kept
}

// With returns g with what w grants. Errors: what is wrong with the value; *hostfuncs.GrantConflictError.
func With(g hostfuncs.Grants, w Word) (hostfuncs.Grants, error) {
	k, ok := kindOf(w.Flag)
	if !ok {
		return g, fmt.Errorf("%q is no flag that grants", w.Flag)
	}
	more, err := k.read(w.Value)
	if err != nil {
		return g, err
	}
	if err := g.Conflict(more); err != nil {
		return g, err
	}
	g = g.Union(more)
	return g, g.Validate()
}
