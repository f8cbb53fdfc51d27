package strictyaml_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

var letter = strictyaml.Kind{Name: "letter", MaxBytes: 1 << 10, MaxDepth: 8}

func TestAMistakeNamesTheKindOfFileAndThePlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n# nothing\n", "line 1: the letter is empty"},
		{"too long", strings.Repeat("#", 1<<10+1), "the letter has 1025 bytes, at most 1024 are allowed"},
		{"two documents", "a: b\n---\nc: d\n", "line 2: a letter is one document; a second one begins here"},
		{"too deep", strings.Repeat("[", 9) + strings.Repeat("]", 9), "line 1, column 9: this is nested deeper than 8 levels"},
		{"not UTF-8", "a: b\nc: \xff\n", "line 2: this is not UTF-8"},
		{"tab", "a:\n\tb: c\n", "line 2: this line is indented with a tab; YAML wants spaces"},
		{"alias", "- &a b\n- *a\n", "line 1, column 3: anchors are not allowed (&a)\nline 2, column 3: aliases are not allowed (*a); write the value out"},
		{"key twice", "a: b\na: c\n", `line 2, column 1: the key "a" is there twice; the first is on line 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := strictyaml.Load([]byte(c.text), letter)
			if got := written(found); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestOnlySoManyMistakesAreReported(t *testing.T) {
	_, found := strictyaml.Load([]byte(strings.Repeat("- !x y\n", 50)), letter)
	if len(found) != strictyaml.MaxMistakes {
		t.Errorf("%d mistakes, want %d", len(found), strictyaml.MaxMistakes)
	}
}

func TestOneIsSuggestedOnlyWhenItIsNear(t *testing.T) {
	known := []string{"tool", "when", "reason"}
	for word, want := range map[string]string{
		"tol": `; did you mean "tool"?`, "wehn": `; did you mean "when"?`, "raeson": `; did you mean "reason"?`,
		"tool": "", "x": "", "": "", "nothing": "", strings.Repeat("when", 100): "",
	} {
		if got := strictyaml.Suggest(word, known); got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
}

func written(found []*strictyaml.Mistake) string {
	var lines []string
	for _, m := range found {
		lines = append(lines, m.Error())
	}
	return strings.Join(lines, "\n")
}

// What was loaded has no alias, anchor or tag left, and no key twice.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{"a: b", "- &a [*a]", "<<: {}", "!t x: y", "? [a]\n: b", "a: |\n  b\n", "{a: 1, a: 2}", "\ta: b", "--- a\n--- b", "%YAML 1.2\n---\na"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		top, found := strictyaml.Load(text, letter)
		if len(found) > strictyaml.MaxMistakes {
			t.Fatalf("%d mistakes", len(found))
		}
		if len(found) == 0 {
			plain(t, top, 1)
		}
	})
}

func plain(t *testing.T, n *yaml.Node, depth int) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || depth > letter.MaxDepth {
		t.Fatalf("line %d, column %d at depth %d was let through: %+v", n.Line, n.Column, depth, n)
	}
	keys := map[string]bool{}
	for i, c := range n.Content {
		plain(t, c, depth+1)
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[c.Value] || c.Kind != yaml.ScalarNode {
				t.Fatalf("the key %q was let through", c.Value)
			}
			keys[c.Value] = true
		}
	}
}
