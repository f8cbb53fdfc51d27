package agent

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// Prices are what a million tokens cost, in millionths of whatever currency the limits and the ledger are in.
type Prices struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	// CacheRead and CacheWrite are those of tokens that the provider keeps; nil means the price of Input.
	CacheRead  *int64 `json:"cache_read,omitempty"`
	CacheWrite *int64 `json:"cache_write,omitempty"`
}

// Of returns what a usage costs, in millionths, the last one rounded up.
func (p *Prices) Of(u model.Usage) int64 {
	if p == nil {
		return 0
	}
	sum := new(big.Int)
	add := func(tokens, price int64) { sum.Add(sum, new(big.Int).Mul(big.NewInt(tokens), big.NewInt(price))) }
	add(u.Input, p.Input)
	add(u.Output, p.Output)
	add(u.CacheRead, orInput(p.CacheRead, p.Input))
	add(u.CacheWrite, orInput(p.CacheWrite, p.Input))
	million := big.NewInt(1_000_000)
	sum.Add(sum, big.NewInt(999_999)).Div(sum, million)
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}

func orInput(price *int64, input int64) int64 {
	if price == nil {
		return input
	}
	return *price
}

var amounts = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,6})?$`)

// ErrAmount says how an amount is written.
var ErrAmount = errors.New("an amount such as 2.50, with at most six places behind the point")

// ParseAmount reads an amount and returns millionths of it. Errors: ErrAmount.
func ParseAmount(s string) (int64, error) {
	if !amounts.MatchString(s) {
		return 0, ErrAmount
	}
	whole, part, _ := strings.Cut(s, ".")
	var n int64
	for _, c := range whole + part + strings.Repeat("0", 6-len(part)) {
		n = n*10 + int64(c-'0')
	}
	return n, nil
}

// FormatAmount writes millionths as an amount, with at least two places.
func FormatAmount(millionths int64) string {
	sign := ""
	n := new(big.Int).Abs(big.NewInt(millionths))
	if millionths < 0 {
		sign = "-"
	}
	whole, part := new(big.Int).DivMod(n, big.NewInt(1_000_000), new(big.Int))
	places := strings.TrimRight(fmt.Sprintf("%06d", part.Int64()), "0")
	return fmt.Sprintf("%s%d.%s", sign, whole, places+strings.Repeat("0", max(0, 2-len(places))))
}
