package hostfuncs

import (
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// Grants is what an operator lets modules do. The zero value grants nothing. What a module may do in a run is what its imports
// can reach, its manifest asks for and the grants allow.
//
// Grants are written into journals: fields are added and never change their meaning. No value of a secret is among them.
type Grants struct {
	// HTTP is what http_fetch and http_send may reach, as HTTPGrant.String writes it.
	HTTP []string `cbor:"1,keyasint,omitempty" json:"http,omitempty"`
	// Dirs are the directories that programs may use, each name once.
	Dirs []DirGrant `cbor:"2,keyasint,omitempty" json:"dirs,omitempty"`
	// Nets are blocks of addresses, such as 10.0.0.0/8, that names may lead to although they are not public.
	Nets []string `cbor:"3,keyasint,omitempty" json:"nets,omitempty"`
	// Secrets are where the values of secrets are found and where they may be sent, each name once.
	Secrets []SecretGrant `cbor:"4,keyasint,omitempty" json:"secrets,omitempty"`
	// Config are the values that config_get answers with, each key of a module once.
	Config []ConfigGrant `cbor:"5,keyasint,omitempty" json:"config,omitempty"`
	// KV are the stores of keys and values, each name once.
	KV []KVGrant `cbor:"6,keyasint,omitempty" json:"kv,omitempty"`
	// Artifacts is how many bytes of artifacts a run may make; 0 grants none of their functions.
	Artifacts uint64 `cbor:"7,keyasint,omitempty" json:"artifacts,omitempty"`
	// Workspace is the directory of the run's files.
	Workspace WorkspaceGrant `cbor:"8,keyasint,omitzero" json:"workspace,omitzero"`
	// Mail is the server for mail_send.
	Mail MailGrant `cbor:"9,keyasint,omitzero" json:"mail,omitzero"`
}

// SecretGrant is a secret: not its value, but where that is found when it is needed.
type SecretGrant struct {
	// Name is what requests refer to it by.
	Name string `cbor:"1,keyasint" json:"name"`
	// Source is env:VARIABLE, file:/PATH or cmd:PROGRAM ARG….
	Source string `cbor:"2,keyasint" json:"source"`
	// Origins are what it may be sent to, as ParseOrigin returns them, or a mail server as MailGrant has it. None binds it to
	// nothing: then it can be asked about and not be sent.
	Origins []string `cbor:"3,keyasint,omitempty" json:"origins,omitempty"`
}

// ConfigGrant is one value of the configuration of a module.
type ConfigGrant struct {
	// Module is the module's name.
	Module string `cbor:"1,keyasint" json:"module"`
	// Key is what the module asks for.
	Key string `cbor:"2,keyasint" json:"key"`
	// Value is text, at most toolabi.MaxConfigValue bytes.
	Value string `cbor:"3,keyasint" json:"value"`
}

// KVGrant is a store of keys and values.
type KVGrant struct {
	// Store is its name, in the form of a module's.
	Store string `cbor:"1,keyasint" json:"store"`
	// Write says that it may be changed.
	Write bool `cbor:"2,keyasint,omitempty" json:"write,omitempty"`
}

// WorkspaceGrant is the directory of a run's files.
type WorkspaceGrant struct {
	// Path is where it is on the host: absolute and clean. It is made when it is needed. "" grants none.
	Path string `cbor:"1,keyasint" json:"path"`
	// Write says that files may be changed.
	Write bool `cbor:"2,keyasint,omitempty" json:"write,omitempty"`
}

// MailGrant is the server that mail_send hands messages to.
type MailGrant struct {
	// Server is smtps://HOST:PORT, or smtp://HOST:PORT with STARTTLS, which only a loopback address may lack. "" grants none.
	Server string `cbor:"1,keyasint" json:"server"`
	// From is the sender of every message.
	From string `cbor:"2,keyasint" json:"from"`
	// User and Secret, the name of a secret that is bound to Server, are for logging in; "" for neither.
	User   string `cbor:"3,keyasint,omitempty" json:"user,omitempty"`
	Secret string `cbor:"4,keyasint,omitempty" json:"secret,omitempty"`
	// To are who may be written to: addresses, @domain for all of a domain, or * for everybody. None means nobody.
	To []string `cbor:"5,keyasint,omitempty" json:"to,omitempty"`
}

// Union returns everything that g or o grants. Of what can be only one thing, such as the directory of a name, it is g's that
// stays, and whoever adds grants asks Conflict first. Only the workspace is o's, where o has one: the files of a run follow it.
func (g Grants) Union(o Grants) Grants {
	u := Grants{
		HTTP: union(g.HTTP, o.HTTP), Nets: union(g.Nets, o.Nets), Artifacts: max(g.Artifacts, o.Artifacts), Workspace: g.Workspace, Mail: g.Mail,
		Dirs: slices.Clone(g.Dirs), Secrets: slices.Clone(g.Secrets), Config: slices.Clone(g.Config), KV: slices.Clone(g.KV),
	}
	for _, d := range o.Dirs {
		i := slices.IndexFunc(u.Dirs, func(have DirGrant) bool { return have.Name == d.Name })
		switch {
		case i < 0:
			u.Dirs = append(u.Dirs, d)
		case u.Dirs[i].Path == d.Path:
			u.Dirs[i].Write = u.Dirs[i].Write || d.Write
		}
	}
	for _, s := range o.Secrets {
		i := slices.IndexFunc(u.Secrets, func(have SecretGrant) bool { return have.Name == s.Name })
		switch {
		case i < 0:
			u.Secrets = append(u.Secrets, s)
		case u.Secrets[i].Source == s.Source:
			u.Secrets[i].Origins = union(u.Secrets[i].Origins, s.Origins)
		}
	}
	for _, c := range o.Config {
		if !slices.ContainsFunc(u.Config, func(have ConfigGrant) bool { return have.Module == c.Module && have.Key == c.Key }) {
			u.Config = append(u.Config, c)
		}
	}
	for _, k := range o.KV {
		if i := slices.IndexFunc(u.KV, func(have KVGrant) bool { return have.Store == k.Store }); i >= 0 {
			u.KV[i].Write = u.KV[i].Write || k.Write
		} else {
			u.KV = append(u.KV, k)
		}
	}
	switch {
	case u.Workspace.Path == o.Workspace.Path:
		u.Workspace.Write = u.Workspace.Write || o.Workspace.Write
	case o.Workspace.Path != "":
		u.Workspace = o.Workspace
	}
	none := MailGrant{}.account()
	if u.Mail.account() == none { // who may be written to can be granted by itself
		to := union(u.Mail.To, o.Mail.To)
		u.Mail, u.Mail.To = o.Mail, to
	} else if a := o.Mail.account(); a == none || a == u.Mail.account() {
		u.Mail.To = union(u.Mail.To, o.Mail.To)
	}
	return u
}

func union(a, b []string) []string {
	u := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(u, s) {
			u = append(u, s)
		}
	}
	return u
}

// Equal says whether g and o grant the same, in the same order.
func (g Grants) Equal(o Grants) bool {
	return slices.Equal(g.HTTP, o.HTTP) && slices.Equal(g.Dirs, o.Dirs) && slices.Equal(g.Nets, o.Nets) &&
		slices.EqualFunc(g.Secrets, o.Secrets, SecretGrant.equal) && slices.Equal(g.Config, o.Config) && slices.Equal(g.KV, o.KV) &&
		g.Artifacts == o.Artifacts && g.Workspace == o.Workspace && g.Mail.account() == o.Mail.account() && slices.Equal(g.Mail.To, o.Mail.To)
}

// IsZero says that nothing is granted.
func (g Grants) IsZero() bool { return g.Equal(Grants{}) }

// IsZero says that no mail is granted.
func (m MailGrant) IsZero() bool { return m.account() == MailGrant{}.account() && len(m.To) == 0 }

// account is the grant without who may be written to.
func (m MailGrant) account() [4]string { return [4]string{m.Server, m.From, m.User, m.Secret} }

func (s SecretGrant) equal(o SecretGrant) bool {
	return s.Name == o.Name && s.Source == o.Source && slices.Equal(s.Origins, o.Origins)
}

// ArtifactBytes is how many bytes the artifacts of a run can be together, in a run that is granted a workspace alone, too: versions of
// files are artifacts. The files can be as many.
func (g Grants) ArtifactBytes() uint64 {
	if g.Artifacts == 0 {
		return toolabi.MaxArtifact
	}
	return g.Artifacts
}

// Secret finds a secret by its name.
func (g Grants) Secret(name string) (SecretGrant, bool) {
	for _, s := range g.Secrets {
		if s.Name == name {
			return s, true
		}
	}
	return SecretGrant{}, false
}

// ungranted is the error of a use for which a grant is missing. what says what is not granted; flag is what would grant it, and
// shown so that it can be typed.
func ungranted(c Call, function, what, flag string) *toolabi.Error {
	text := fmt.Sprintf("%s: %s is not granted (%s)", function, what, flag)
	if reason := toolabi.CleanLine(c.Reason, 300); reason != "" {
		text += fmt.Sprintf("; %s wants %s %s", c.Module, function, reason)
	}
	return toolabi.NewError(toolabi.Denied, text)
}
