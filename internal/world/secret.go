package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// SecretSource is the source that grants name for a secret of a world; only the vault of Config reads it.
func SecretSource(name string) string {
	return "env:WRUN_WORLD_" + strings.NewReplacer("_", "__", "-", "_M").Replace(name)
}

// vault holds the values of a world.
func vault(secrets map[string]string) *hostfuncs.Vault {
	return hostfuncs.NewVault(func(_ context.Context, source string) ([]byte, error) {
		for name, value := range secrets {
			if SecretSource(name) == source {
				return []byte(value), nil
			}
		}
		return nil, errors.New("the world of this case does not have it")
	})
}

// hiding returns what takes the values of a world's secrets out of a text, in whatever form they are there. An error says which value
// could not be.
func hiding(secrets map[string]string) (func(string) string, error) {
	v := vault(secrets)
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		if _, err := v.Own(context.Background(), name, SecretSource(name)); err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
	}
	return func(text string) string {
		hidden := v.HideText(text)
		if hidden == text {
			return text
		}
		for name := range secrets {
			hidden = strings.ReplaceAll(hidden, toolabi.SecretMark(name), toolabi.SecretRef(name))
		}
		return hidden
	}, nil
}

// filled is a text with the values of a world's secrets in the places of what stands for them.
func (w *World) filled(text string) string {
	for name, value := range w.Secrets {
		text = strings.ReplaceAll(text, toolabi.SecretRef(name), value)
	}
	return text
}
