package hostfuncs

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// artifactFunc makes a function of artifacts. judge says what is wrong with a request, before anything is done.
func artifactFunc[Req, Reply any](
	name string, class toolabi.Class, judge func(Req) error, describe func(Req) string, do func(context.Context, Call, Req) (Reply, error),
) Func {
	open := func(c Call, req Req) error {
		if err := mayKeep(c, name); err != nil {
			return err
		}
		return judge(req)
	}
	f := Handle(name, class, func(ctx context.Context, c Call, req Req) (reply Reply, err error) {
		if err := open(c, req); err != nil {
			return reply, err
		}
		if c.Artifacts == nil {
			return reply, noArtifacts(name)
		}
		return do(ctx, c, req)
	})
	f.Check, f.Describe = judged(name, open), described(describe)
	return f
}

// mayKeep judges whether a module may use artifacts.
func mayKeep(c Call, function string) error {
	if c.Grants.Artifacts == 0 {
		return ungranted(c, function, "keeping artifacts", "--allow-artifacts, or no more than --allow-artifacts=64MiB")
	}
	return nil
}

func noArtifacts(function string) error {
	return toolabi.NewError(toolabi.Unsupported, function+": this host keeps no artifacts")
}

// findArtifact says whether the run has an artifact, and how long it is.
func findArtifact(ctx context.Context, c Call, d toolabi.Digest) (size uint64, found bool, err error) {
	r, n, err := c.Artifacts.Open(ctx, d)
	switch {
	case errors.Is(err, toolabi.NotFound):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return uint64(n), true, r.Close()
}

// judgeArtifactName says why a text cannot be the name of an artifact, or nil. It identifies nothing and is never a path.
func judgeArtifactName(function, name string) error {
	switch {
	case len(name) > toolabi.MaxArtifactName:
		return invalidf("%s: a name of %d bytes, at most %d are allowed", function, len(name), toolabi.MaxArtifactName)
	case !utf8.ValidString(name), toolabi.CleanLine(name, toolabi.MaxArtifactName) != name:
		return invalidf("%s: the name %q has characters that are not shown, or more than one line", function, toolabi.CleanLine(name, 80))
	}
	return nil
}

// artifactRef reads the digest of an artifact.
func artifactRef(function, text string) (toolabi.Digest, error) {
	d, ok := toolabi.ParseDigest(text)
	if !ok {
		return d, invalidf("%s: %q is no digest: want 64 lower-case hexadecimal digits", function, toolabi.CleanLine(text, 80))
	}
	return d, nil
}

// describeDigest is a digest as people are shown it.
func describeDigest(text string) string {
	return toolabi.CleanLine(toolabi.CutText(text, 12), 12)
}

// roomFor says why a run cannot make another artifact, or nil: toolabi.TooLarge. count and size are what it would have then.
func roomFor(c Call, function string, count int, size uint64) error {
	switch {
	case count > toolabi.MaxArtifacts:
		return tooLargef("%s: a run may make %d artifacts", function, toolabi.MaxArtifacts)
	case size > c.Grants.Artifacts:
		return tooLargef("%s: the run would have %d bytes of artifacts, and is granted %d (--allow-artifacts=SIZE)", function, size, c.Grants.Artifacts)
	}
	return nil
}

// roomLeft says why a run cannot make an artifact of n bytes that it does not have yet, or nil. It is asked before anything is
// stored, to store nothing in vain; whether there was room is judged afterwards, by madeRoom.
func roomLeft(ctx context.Context, c Call, function string, n uint64) error {
	count, size, err := c.Artifacts.Usage(ctx)
	if err != nil {
		return err
	}
	if n > ^uint64(0)-size {
		return tooLargef("%s: an artifact of %d bytes", function, n)
	}
	return roomFor(c, function, count+1, size+n)
}

// madeRoom says why what was stored just now cannot become an artifact of the run, or nil. Of parallel steps the ones that stored
// first have the room.
func madeRoom(ctx context.Context, c Call, function string) error {
	count, size, err := c.Artifacts.Usage(ctx)
	if err != nil {
		return err
	}
	return roomFor(c, function, count, size)
}
