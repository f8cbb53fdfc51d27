package warm_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/sdk/internal/warm"
	"github.com/wrun-dev/wrun/toolabi"
)

// own has every method that encoding/json calls, and none may be.
type own struct{ N int }

func (own) MarshalJSON() ([]byte, error) { panic("MarshalJSON was called") }
func (*own) UnmarshalJSON([]byte) error  { panic("UnmarshalJSON was called") }
func (own) MarshalText() ([]byte, error) { panic("MarshalText was called") }
func (*own) UnmarshalText([]byte) error  { panic("UnmarshalText was called") }
func (own) IsZero() bool                 { panic("IsZero was called") }
func (own) String() string               { panic("String was called") }

type ownText string

func (ownText) MarshalText() ([]byte, error) { panic("MarshalText was called") }
func (*ownText) UnmarshalText([]byte) error  { panic("UnmarshalText was called") }

type ownZero struct{ N int }

func (ownZero) IsZero() bool { panic("IsZero was called") }

type ownByte byte

func (*ownByte) UnmarshalJSON([]byte) error { panic("UnmarshalJSON was called") }

type embedded struct {
	own
	Other int
}

type spoken interface{ MarshalJSON() ([]byte, error) }

// within puts T wherever a type can be.
type within[T any] struct {
	Plain   line
	Value   T
	Pointer *T
	List    []T
	Array   [2]T
	Map     map[string]T
	Deep    map[string][]*T
	Inner   struct{ T T }
	Zero    T `json:",omitzero"`
}

type line struct {
	SKU   string  `json:"sku"`
	Price float64 `json:"price"`
}

func TestMethodsOfTheAuthorAreNotCalled(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[own](), reflect.TypeFor[*own](), reflect.TypeFor[[]own](), reflect.TypeFor[map[ownText]int](), reflect.TypeFor[spoken](),
		reflect.TypeFor[embedded](), reflect.TypeFor[*embedded](), reflect.TypeFor[[]ownByte](),
		reflect.TypeFor[within[own]](), reflect.TypeFor[within[ownText]](), reflect.TypeFor[within[ownZero]](), reflect.TypeFor[within[ownByte]](),
		reflect.TypeFor[within[embedded]](), reflect.TypeFor[within[spoken]](), reflect.TypeFor[within[within[own]]](),
	} {
		w := warm.Work{Values: 1000}
		w.Input(typ)
		w.Output(typ)
		if typ.Kind() == reflect.Struct && typ.NumField() > 3 && w.Values == 1000 {
			t.Errorf("%s: nothing was made of its parts", typ)
		}
	}
}

func TestWhatCannotBeReadOrWrittenIsPassedOver(t *testing.T) {
	type tree struct {
		Left, Right, Middle *tree
		Twigs               []tree
		Named               map[string]tree
	}
	type list []list
	for _, typ := range []reflect.Type{
		reflect.TypeFor[tree](), reflect.TypeFor[list](), reflect.TypeFor[map[any]int](), reflect.TypeFor[map[[2]int]int](), reflect.TypeFor[chan int](),
		reflect.TypeFor[func()](), reflect.TypeFor[complex128](), reflect.TypeFor[[1 << 40]byte](), reflect.TypeFor[struct{ A [1 << 40]int }](),
		reflect.TypeFor[[0]int](), reflect.TypeFor[struct{}](), reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[struct{ *line }](),
		reflect.TypeFor[struct {
			F func() `json:"-"`
			c chan int
		}](),
	} {
		w := warm.Work{Values: 500}
		w.Input(typ)
		w.Output(typ)
		if w.Values < 0 {
			t.Errorf("%s: %d values are left", typ, w.Values)
		}
	}
}

func TestNoMoreThanSoManyValuesAreMade(t *testing.T) {
	w := warm.Work{Values: 3}
	w.Input(reflect.TypeFor[within[line]]())
	w.Output(reflect.TypeFor[within[line]]())
	w.Module(&toolabi.Manifest{})
	if w.Values != 0 {
		t.Errorf("%d values are left of 3", w.Values)
	}
}

// order has a field of every kind. T tells the types apart that are prepared from those that are not.
type order[T any] struct {
	ID       int64             `json:"id"`
	Flags    uint8             `json:"flags,string"`
	Customer *struct{ Name T } `json:"customer"`
	Lines    []struct {
		line
		Count T
	} `json:"lines"`
	Sums  map[string]T    `json:"sums"`
	Paid  bool            `json:"paid"`
	At    time.Time       `json:"at"`
	Exact json.Number     `json:"exact"`
	Big   big.Int         `json:"big"`
	Raw   json.RawMessage `json:"raw"`
	Bytes []byte          `json:"bytes"`
	Any   any             `json:"any"`
	Pair  [2]T            `json:"pair"`
}

var usedBefore atomic.Bool

const orderJSON = `{"id":7,"flags":"3","customer":{"Name":1},"lines":[{"sku":"a","price":1.5,"Count":2}],"sums":{"a":1},"paid":true,` +
	`"at":"2030-01-01T00:00:00Z","exact":1.50,"big":12,"raw":{},"bytes":"AQ==","any":{"x":[1]},"pair":[1,2]}`

func TestTheFirstUseOfATypeThatWasPreparedTakesLess(t *testing.T) {
	if usedBefore.Swap(true) {
		t.Skip("in this process it is not the first use any more")
	}
	read := func(v any) { must(t, registry.ReadInput([]byte(orderJSON), v)) }
	write := func(v any) {
		_, err := registry.WriteOutput(v)
		must(t, err)
	}
	read(new(order[uint64])) // the first use of anything, which is not what is tested
	write(order[uint64]{Exact: "1", Raw: json.RawMessage("{}")})

	w := warm.Work{Values: 1000}
	w.Input(reflect.TypeFor[order[int16]]())
	w.Output(reflect.TypeFor[order[int32]]())
	for _, tc := range []struct {
		name        string
		cold, ready func()
	}{
		{"read", func() { read(new(order[uint16])) }, func() { read(new(order[int16])) }},
		{"write", func() { write(order[uint32]{Exact: "1", Raw: json.RawMessage("{}")}) }, func() { write(order[int32]{Exact: "1", Raw: json.RawMessage("{}")}) }},
	} {
		cold, ready := allocations(tc.cold), allocations(tc.ready)
		if ready > cold/3 {
			t.Errorf("%s: the first use of a type that was prepared takes %d allocations, of one that was not %d", tc.name, ready, cold)
		}
	}
}

func TestTheFirstUseOfAMessageThatWasPreparedTakesLess(t *testing.T) {
	if messageUsedBefore.Swap(true) {
		t.Skip("in this process it is not the first use any more")
	}
	fetched, err := toolabi.Encode(toolabi.HTTPReply{Status: 200, Headers: []toolabi.Header{{Name: "A", Value: "b"}}, Body: []byte("c")})
	must(t, err)
	listed, err := toolabi.Encode(toolabi.KVListReply{Items: []toolabi.KVItem{{Key: "a"}}})
	must(t, err)
	w := warm.Work{Values: 1000}
	w.Module(&toolabi.Manifest{Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPFetch}}})
	cold := allocations(func() { must(t, toolabi.Decode(listed, new(toolabi.KVListReply))) })
	ready := allocations(func() { must(t, toolabi.Decode(fetched, new(toolabi.HTTPReply))) })
	if ready > cold/2 {
		t.Errorf("a message that was prepared takes %d allocations, one that was not %d", ready, cold)
	}
}

var messageUsedBefore atomic.Bool

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// allocations returns how many allocations f makes, the least that other goroutines let see.
func allocations(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}
