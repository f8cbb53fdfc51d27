package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/hostfuncs"
)

// The variables with which the operator says which model is asked, where it is, and where its key comes from.
const (
	envModel   = "WRUN_MODEL"
	envBaseURL = "WRUN_MODEL_BASE_URL"
	envKey     = "WRUN_MODEL_KEY"
)

// providerKeys are the sources of the keys of the providers' own addresses, when nobody says another one.
var providerKeys = map[string]string{agent.OpenAI: "env:OPENAI_API_KEY", agent.Anthropic: "env:ANTHROPIC_API_KEY"}

// chooseModel puts what the operator's environment says in the place of what an agent's file says.
func (a *app) chooseModel(m *agent.Model) error {
	wrong := func(variable, format string, args ...any) error {
		return &codedError{codeModelChoice, fmt.Errorf("%s %s", variable, fmt.Sprintf(format, args...))}
	}
	if words := os.Getenv(envModel); words != "" {
		if what := m.SetModel(words); what != "" {
			return wrong(envModel, "is %q, which %s", words, what)
		}
	}
	if m.Protocol == agent.Scripted {
		return nil // which is nowhere, and wants no key
	}
	m.Key = providerKeys[m.Protocol]
	if base := os.Getenv(envBaseURL); base != "" {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return wrong(envBaseURL, "is no address of the form http://HOST or https://HOST/PATH")
		}
		m.BaseURL, m.Key = base, ""
	}
	if source := os.Getenv(envKey); source != "" {
		key, err := hostfuncs.SecretSource(source)
		if err != nil {
			return wrong(envKey, "does not say where a key comes from: %v", err)
		}
		m.Key = key
	}
	return nil
}

// connect makes the client of a run's model, and refuses when the operator means another one by now.
func (a *app) connect(vault *hostfuncs.Vault) func(context.Context, agent.Model) (model.Client, error) {
	reach := agent.Connect(func(ctx context.Context, source string) ([]byte, error) {
		return vault.Own(ctx, "the key of the model", source)
	})
	return func(ctx context.Context, m agent.Model) (model.Client, error) {
		now := m
		if err := a.chooseModel(&now); err != nil {
			return nil, err
		}
		if os.Getenv(envModel)+os.Getenv(envBaseURL)+os.Getenv(envKey) != "" && now.Where() != m.Where() {
			return nil, &otherModelError{then: m.Where(), now: now.Where()}
		}
		return reach(ctx, m)
	}
}

// otherModelError says that the environment names another model than the one that a run began with.
type otherModelError struct{ then, now string }

func (e *otherModelError) Error() string {
	return "the run began with another model than the environment names; a run keeps the model that it began with"
}

// diff says what is different.
func (e *otherModelError) diff() string { return "-" + e.then + "\n+" + e.now }

// scriptBeside reads the file with the replies of a scripted model, which lies in the directory of the agent's file or below.
func scriptBeside(root *os.Root, agentFile, name string) (string, error) {
	if name == "" {
		return "", &codedError{codeModelChoice, fmt.Errorf("%s says scripted, and %s names no script", envModel, agentFile)}
	}
	file := filepath.FromSlash(name)
	if _, err := root.Stat(file); err != nil { // also when a link leads out of the directory
		return "", fileError(err)
	}
	path := filepath.Join(filepath.Dir(agentFile), file)
	text, err := readFile(path)
	if err != nil {
		return "", err
	}
	if _, err := script.Parse(text); err != nil {
		return "", &codedError{codeScript, fmt.Errorf("%s: %w", path, err)}
	}
	return string(text), nil
}
