package main

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wrun-dev/wrun/sdk"
)

// SumIn is the input of sum.
type SumIn struct {
	Numbers []*big.Int `json:"numbers" doc:"the integers to add, each of at most 10000 digits"`
}

// SumOut is the output of sum.
type SumOut struct {
	Sum *big.Int `json:"sum" doc:"the exact sum, 0 for no numbers"`
}

// maxBits is how large a number may be: 10000 decimal digits.
const maxBits = 33220

func sum(_ context.Context, in SumIn) (SumOut, error) {
	total := new(big.Int)
	for i, n := range in.Numbers {
		if n == nil {
			return SumOut{}, sdk.Fail("not_a_number", fmt.Sprintf("number %d is null", i))
		}
		if n.BitLen() > maxBits {
			return SumOut{}, sdk.Fail("too_large", fmt.Sprintf("number %d has more than 10000 digits", i))
		}
		total.Add(total, n)
	}
	return SumOut{Sum: total}, nil
}
