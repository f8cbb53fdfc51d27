package hostfuncs

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// String returns the grant in the form of ParseConfig.
func (c ConfigGrant) String() string { return c.Module + "." + c.Key + "=" + c.Value }

// ParseConfig reads a value of the configuration as people write it: MODULE.KEY=VALUE, such as mailer.sender=ann@example.com.
// Everything behind the first = is the value, "" too. What is returned passes Validate.
func ParseConfig(s string) (ConfigGrant, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return ConfigGrant{}, fmt.Errorf("setting %q: want MODULE.KEY=VALUE", toolabi.CleanLine(s, 80))
	}
	module, key, ok := strings.Cut(name, ".")
	if !ok {
		return ConfigGrant{}, fmt.Errorf("setting %q: for which module? want MODULE.KEY=VALUE", toolabi.CleanLine(name, 80))
	}
	c := ConfigGrant{Module: module, Key: key, Value: value}
	return c, c.validate()
}

func (c ConfigGrant) validate() error {
	switch name := toolabi.CleanLine(c.Module+"."+c.Key, 160); {
	case !toolabi.IsModuleName(c.Module):
		return fmt.Errorf("setting %q: the module's name: want lower-case letters, digits and inner hyphens, at most 64", name)
	case !toolabi.IsSecretName(c.Key):
		return fmt.Errorf("setting %q: the key: want lower-case letters, digits, and inner hyphens and underscores, at most 64", name)
	case !utf8.ValidString(c.Value):
		return fmt.Errorf("setting %s: the value is no text in UTF-8", name)
	case len(c.Value) > toolabi.MaxConfigValue:
		return fmt.Errorf("setting %s: the value has %d bytes, at most %d are allowed", name, len(c.Value), toolabi.MaxConfigValue)
	}
	return nil
}

func (g Grants) validateConfig() error {
	for _, c := range g.Config {
		if err := c.validate(); err != nil {
			return err
		}
		if first, _ := g.Setting(c.Module, c.Key); first != c.Value {
			return conflict(GrantedConfig, c.Module+"."+c.Key, shortValue(first), shortValue(c.Value))
		}
	}
	return nil
}

// Setting finds a value of a module's configuration.
func (g Grants) Setting(module, key string) (string, bool) {
	for _, c := range g.Config {
		if c.Module == module && c.Key == key {
			return c.Value, true
		}
	}
	return "", false
}
