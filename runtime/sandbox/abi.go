package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/toolabi"
)

// abiFuncs move bytes between a call and its guest. Pointers that do not lie in the guest's memory are misuse.
var abiFuncs = []struct {
	name   string
	params string
	fn     func(ctx context.Context, c *call, mod api.Module, p []uint64) int32
}{
	{toolabi.ImportInputRead, "iii", func(_ context.Context, c *call, mod api.Module, p []uint64) int32 {
		return c.read(toolabi.ImportInputRead, mod, p, c.input)
	}},
	{toolabi.ImportOutputWrite, "ii", outputWrite},
	{toolabi.ImportResultRead, "iii", func(_ context.Context, c *call, mod api.Module, p []uint64) int32 {
		return c.read(toolabi.ImportResultRead, mod, p, c.result)
	}},
}

// largeCopy is how many bytes are copied without looking at the time. Below it a guest whose time is over may still finish its
// reply.
const largeCopy = 4 << 10

// read copies from src into (ptr, cap) at p, from the offset at p[2] on. Past the end it copies nothing and returns 0.
func (c *call) read(name string, mod api.Module, p []uint64, src []byte) int32 {
	n, ok := copyOut(mod, uint32(p[0]), uint32(p[1]), uint32(p[2]), src)
	if !ok {
		c.misuse("%s: a buffer of %d bytes at %#x is not in memory", name, uint32(p[1]), uint32(p[0]))
	}
	return int32(n)
}

// outputWrite appends to the reply. What does not fit is refused whole, with -1, and the guest may write something shorter.
func outputWrite(ctx context.Context, c *call, mod api.Module, p []uint64) int32 {
	b, ok := guestBytes(mod, uint32(p[0]), uint32(p[1]))
	if !ok {
		c.misuse("%s: %d bytes at %#x are not in memory", toolabi.ImportOutputWrite, uint32(p[1]), uint32(p[0]))
	}
	if len(b) > c.replyMax()-len(c.output) {
		c.outputRefused = true
		return -1
	}
	c.keep(ctx, len(b))
	c.output = append(c.output, b...)
	return 0
}

// replyMax is how long the encoded reply may be: the output in its envelope, or an error whatever the limit.
func (c *call) replyMax() int { return max(c.outputMax, 2*toolabi.MaxText) + 64 }

// use is one use of a host function: it returns what the guest gets, and keeps the reply or the error for result_read.
func (c *call) use(ctx context.Context, mod api.Module, f toolabi.Function, p []uint64) int64 {
	c.must(f.Name)
	ptr, n := uint32(p[0]), uint32(p[1])
	raw, ok := guestBytes(mod, ptr, n)
	if !ok {
		c.misuse("%s: a request of %d bytes at %#x is not in memory", f.Name, n, ptr)
	}
	if n > toolabi.MaxInput {
		return c.keepError(toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("a request of %d bytes, at most %d are allowed", n, toolabi.MaxInput)))
	}
	c.pause(ctx)
	if f.Class == toolabi.Free && c.saidEnough(f.Name) {
		return -int64(len(c.result))
	}
	c.result = nil
	c.keep(ctx, int(n))
	c.asked = true
	answer, err := c.ask(ctx, f.Name, slices.Clone(raw))
	if err != nil {
		c.end(err)
	}
	if answer.At != 0 {
		c.clock.moveTo(answer.At)
	}
	if answer.Err != nil {
		return c.keepError(answer.Err)
	}
	if len(answer.Reply) > toolabi.MaxOutput {
		return c.keepError(tooLarge(f, len(answer.Reply)))
	}
	c.keep(ctx, len(answer.Reply))
	c.result = answer.Reply
	return int64(len(c.result))
}

// said is how often a call used a function with which a guest speaks to people.
type said struct {
	times  int
	enough []byte // the error that the guest gets from then on
}

// saidEnough counts a use of such a function, and says whether it is one too many; then the error is kept for the guest.
func (c *call) saidEnough(name string) bool {
	s := c.said[name]
	if s == nil {
		s = &said{}
		if c.said == nil {
			c.said = map[string]*said{}
		}
		c.said[name] = s
	}
	s.times++
	if s.times <= toolabi.MaxSaid {
		return false
	}
	if s.enough == nil {
		c.keepError(toolabi.NewError(toolabi.RateLimited, fmt.Sprintf("%s was used %d times in this call, and that is the most", name, toolabi.MaxSaid)))
		s.enough = c.result
	}
	c.result = s.enough
	return true
}

// ask calls the host function. Its panic becomes an error here, before it can run through the guest.
func (c *call) ask(ctx context.Context, name string, request []byte) (a toolabi.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("host function %s panicked: %v", name, r)
		}
	}()
	if c.host == nil {
		return a, errors.New("no host functions were given for this call")
	}
	return c.host(ctx, name, request)
}

// tooLarge says that a reply did not fit. Whatever the function was there to do may have been done.
func tooLarge(f toolabi.Function, n int) *toolabi.Error {
	e := toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("a reply of %d bytes, at most %d are allowed", n, toolabi.MaxOutput))
	if f.Class != toolabi.Free && f.Class != toolabi.Read {
		e.Effect = toolabi.EffectUnknown
	}
	return e
}

func (c *call) keepError(e *toolabi.Error) int64 {
	safe := *e
	safe.Message = strings.ToValidUTF8(safe.Message, "\uFFFD")
	safe.Detail = strings.ToValidUTF8(safe.Detail, "\uFFFD")
	b, err := toolabi.Encode(&safe)
	if err != nil {
		c.end(err)
	}
	c.result = b
	return -int64(len(b))
}

// linkABI links the functions of ABI 1.
func linkABI(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(toolabi.ImportModule)
	for _, f := range abiFuncs {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			c := callFrom(ctx)
			c.must(f.name)
			if uint32(stack[1]) > largeCopy {
				c.pause(ctx)
			}
			stack[0] = api.EncodeI32(f.fn(ctx, c, mod, stack))
		}), letters(f.params), letters("i")).Export(f.name)
	}
	for _, f := range toolabi.Functions {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			stack[0] = uint64(callFrom(ctx).use(ctx, mod, f, stack))
		}), letters("ii"), letters("I")).Export(f.Name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", toolabi.ImportModule, err)
	}
	return nil
}
