package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
)

// envLines names the file into which each wrun of a script writes the lines of JSON that it wrote, for TestScripts to hold docs/json.md against.
const envLines = "TEST_LINES"

// written is a line of JSON with the verb that wrote it: "error" and "call --stats" for those of standard error.
type written struct {
	Verb string
	Line json.RawMessage
}

// scripted is main for the scripts: the same, and it remembers the lines of JSON.
func scripted() {
	file := os.Getenv(envLines)
	if file == "" || len(os.Args) < 2 || os.Args[1] == compileModule || os.Args[1] == crashtestChild {
		main()
	}
	var out, errOut bytes.Buffer
	a := &app{in: os.Stdin, out: io.MultiWriter(os.Stdout, &out), errOut: io.MultiWriter(os.Stderr, &errOut)}
	ctx, stop := watchSignals(context.Background(), a.notice)
	code := a.main(ctx, os.Args[1:])
	stop()
	if verb := verbOf(os.Args[1:]); verb != "" {
		remember(file, verb, out.Bytes())
	}
	remember(file, "", errOut.Bytes())
	os.Exit(code)
}

// verbOf is the verb of a command line that writes lines of its own, and not what a tool or an expression gave; "" for another one.
func verbOf(args []string) string {
	has := func(word string) bool { return slices.Contains(args, word) }
	c, _, err := newRoot(&app{}).Find(args)
	if err != nil || has("--jq") || !has("--json") || has("--help") {
		return ""
	}
	verb := strings.TrimPrefix(c.CommandPath(), "wrun ")
	switch verb {
	case "call", "run", "agent", "rollback":
		return ""
	case "resume":
		if !has("--due") {
			return ""
		}
		return "resume --due"
	case "ls", "show", "replay":
		for _, flag := range []string{"--removed", "--files", "--artifact", "--step"} {
			if (verb != "replay" || flag != "--step") && has(flag) || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, flag+"=") }) {
				return verb + " " + flag
			}
		}
	}
	return verb
}

// remember appends the lines that are objects to the file, which many processes do at once. verb is "" for standard error.
func remember(file, verb string, text []byte) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for line := range bytes.Lines(text) {
		var object map[string]any
		if json.Unmarshal(line, &object) != nil || object["level"] != nil { // docs/telemetry.md has the fields of records
			continue
		}
		verb := verb
		if verb == "" {
			verb = map[bool]string{true: "error", false: "call --stats"}[object["error"] != nil]
		}
		b, err := json.Marshal(written{verb, bytes.TrimSpace(line)})
		if err != nil {
			panic(err)
		}
		if _, err := f.Write(append(b, '\n')); err != nil {
			panic(err)
		}
	}
}
