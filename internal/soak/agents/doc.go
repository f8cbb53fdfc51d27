// Package agents kills wrun at random instants while an agent works, resumes what it left, and holds the journal against two
// servers that count: a ledger that takes money, and a provider of models that writes a bill for each request that it works on.
// Every charge must have taken place once, every answer that was recorded must stay recorded, and every bill must be either an
// answer in the log or one that "wrun cost" says may have been paid twice.
//
// The provider fails as providers and networks do: it refuses, breaks off, answers with what nobody can read, holds its answer
// until it is given up. The processes die in "wrun agent", "resume", "approve" and "resolve", by a clock and by traps in both
// servers, and the judge reads nothing but the files of the servers and what wrun prints. Single crash points are visited one
// by one by the tests of the root package and of package drivers/agent.
package agents
