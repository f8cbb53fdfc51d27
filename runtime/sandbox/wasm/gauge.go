package wasm

// Gauge is what is left of a program's fuel and native stack: fuel units in its lower 32 bits and stack units in its upper
// ones, both signed. A program counts both down; below zero the fuel has to be refilled and the stack has overflowed.
type Gauge uint64

const (
	// fuelUnit is how much weight one unit of fuel pays for: about as many instructions.
	fuelUnit = 16
	// stackUnit is a unit of native stack in bytes.
	stackUnit = 16
	// stackPerFuel is how many bytes of stack cost at least one unit of fuel, so that the stack cannot grow much between two
	// refills: nobody looks at it in between.
	stackPerFuel = 256
)

// NewGauge returns a gauge without fuel, so that the first charge asks the host, with so many units of stack.
func NewGauge(stack uint32) Gauge { return Gauge(stack) << 32 }

// Fuel returns how much fuel is left.
func (g Gauge) Fuel() int32 { return int32(g) }

// Overflowed says that the calls in each other use more stack than they may.
func (g Gauge) Overflowed() bool { return g.stack() < 0 }

// A fuel below zero has taken one from the stack's bits.
func (g Gauge) stack() int32 { return int32((int64(g) - int64(g.Fuel())) >> 32) }

// StackBytes returns how much of the stack is left, in bytes; it is below 0 when it has overflowed.
func (g Gauge) StackBytes() int64 { return int64(g.stack()) * stackUnit }

// Refilled returns the gauge with so much fuel, at least 0, and the stack as it is.
func (g Gauge) Refilled(fuel int32) Gauge {
	return Gauge(uint64(uint32(g.stack()))<<32 | uint64(uint32(fuel)))
}
