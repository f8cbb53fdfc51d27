//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/wrun-dev/wrun/internal/docpage"
)

// holders are the tests that hold blocks by their language and word, on every page: those that know the format.
var holders = map[string]string{
	"yaml plan": "drivers/plan TestTheDocumentationIsTrue", "json input": "drivers/plan TestTheDocumentationIsTrue",
	"json answers": "drivers/plan TestTheDocumentationIsTrue", "json failures": "drivers/plan TestTheDocumentationIsTrue",
	"json output": "drivers/plan TestTheDocumentationIsTrue", "text calls": "drivers/plan TestTheDocumentationIsTrue",
	"yaml policy": "policy TestTheDocumentationIsTrue",
	"yaml script": "drivers/agent/script TestTheDocumentationIsTrue", "json request": "drivers/agent/script TestTheDocumentationIsTrue",
	"json answer": "drivers/agent/script TestTheDocumentationIsTrue",
	"yaml agent":  "drivers/agent TestTheDocumentationsAgentsAreInOrder",
	"yaml grants": "internal/grantfile TestTheDocumentationIsTrue", "yaml mistaken": "internal/grantfile TestTheDocumentationIsTrue",
	"yaml record": "internal/grantfile TestTheDocumentationIsTrue",
	"yaml cases":  "internal/toolcase TestTheDocumentationsCasesAreInOrder",
	"yaml world":  "internal/crashtest TestTheDocumentationsWorldsAreInOrder",
	"toml":        "internal/tooltoml TestManifestsInTheDocsAreInOrder",
	"cddl":        "toolabi TestDocsGiveTheCDDLOfEveryMessage",
	"hex":         "toolabi TestDocsGiveBytesThatAreMessages",
}

// withMistakes are the files behind which a block "text error" has what is wrong: the test that holds one holds the other.
var withMistakes = []string{"plan", "policy", "script", "mistaken"}

// judge returns what is wrong with a block that is not run, or with what is said about it.
func judge(p docpage.Page, b docpage.Block) string {
	about, what, _ := strings.Cut(b.Note, " ")
	kind := strings.TrimSpace(b.Lang + " " + b.Word)
	switch {
	case strings.HasPrefix(b.Note, "not run:"):
		if strings.TrimSpace(strings.TrimPrefix(b.Note, "not run:")) == "" {
			return "it is not run, and no reason is given"
		}
		return ""
	case about == "held":
		return heldBy(strings.TrimPrefix(what, "by "))
	case about == "source":
		return isSource(what, b)
	case b.Lang == "console" || b.Lang == "sh":
		return ""
	case kind == "text error":
		if !behind(p, b) {
			return "no file with mistakes stands before it: " + strings.Join(withMistakes, ", ")
		}
		return ""
	case b.Lang == "hex":
		kind = b.Lang // the others are the message and its length
	case b.Lang == "go":
		return judgeGo(b.Text)
	case kind == "json":
		return judgeJSON(b.Text)
	}
	if held := holders[kind]; held != "" {
		return heldBy(held)
	}
	return fmt.Sprintf("no test holds blocks of %q: see CONTRIBUTING.md for those that are held, or say above it <!-- held by PACKAGE TEST --> or <!-- not run: reason -->", kind)
}

// heldBy says that there is no such test.
func heldBy(test string) string {
	dir, name, _ := strings.Cut(test, " ")
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		return err.Error()
	}
	is := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(t \*testing\.T\)`)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && is.Match(text) {
			return ""
		}
	}
	return fmt.Sprintf("there is no test %q in %q", name, dir)
}

// behind says whether a list of mistakes stands behind a file that has them.
func behind(p docpage.Page, b docpage.Block) bool {
	for _, group := range p.Groups(withMistakes...) {
		for _, other := range group {
			if other.Line == b.Line {
				return true
			}
		}
	}
	return false
}

// isSource holds a block against the file that it shows.
func isSource(file string, b docpage.Block) string {
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	switch {
	case err != nil:
		return err.Error()
	case string(text) != b.Text:
		return "it is not what " + file + " has"
	}
	return ""
}

func judgeJSON(text string) string {
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return err.Error()
		}
	}
}
