package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"

	"github.com/wrun-dev/wrun/toolabi"
)

// requestTypes are the messages of host functions that have no JSON of their own.
var requestTypes = map[string]reflect.Type{
	toolabi.FuncKVGet: reflect.TypeFor[toolabi.KVGetRequest](), toolabi.FuncKVPut: reflect.TypeFor[toolabi.KVPutRequest](),
	toolabi.FuncKVCAS: reflect.TypeFor[toolabi.KVCASRequest](), toolabi.FuncKVDelete: reflect.TypeFor[toolabi.KVDeleteRequest](),
	toolabi.FuncKVList: reflect.TypeFor[toolabi.KVListRequest](), toolabi.FuncSleep: reflect.TypeFor[toolabi.SleepRequest](),
	toolabi.FuncClock: reflect.TypeFor[toolabi.ClockRequest](), toolabi.FuncRandom: reflect.TypeFor[toolabi.RandomRequest](),
	toolabi.FuncArtifactPut: reflect.TypeFor[toolabi.ArtifactPutRequest](), toolabi.FuncArtifactGet: reflect.TypeFor[toolabi.ArtifactGetRequest](),
	toolabi.FuncArtifactStat: reflect.TypeFor[toolabi.ArtifactStatRequest](), toolabi.FuncWorkspaceRead: reflect.TypeFor[toolabi.WorkspaceReadRequest](),
	toolabi.FuncWorkspaceWrite: reflect.TypeFor[toolabi.WorkspaceWriteRequest](), toolabi.FuncWorkspaceList: reflect.TypeFor[toolabi.WorkspaceListRequest](),
}

// fieldsOf is a request as JSON, field by field, without those that are not set.
func fieldsOf(function string, request []byte) ([]byte, bool) {
	of, ok := requestTypes[function]
	if !ok {
		return nil, false
	}
	msg := reflect.New(of)
	if toolabi.Decode(request, msg.Interface()) != nil {
		return nil, false
	}
	fields := map[string]any{}
	for i := range of.NumField() {
		if v := msg.Elem().Field(i); !v.IsZero() {
			fields[snake(of.Field(i).Name)] = fieldValue(v)
		}
	}
	b, err := json.Marshal(fields)
	return b, err == nil
}

func fieldValue(v reflect.Value) any {
	if b, ok := v.Interface().([]byte); ok {
		return shown(b)
	}
	return v.Interface()
}

// snake is the name of a field of a message: BodyArtifact is body_artifact.
func snake(name string) string {
	var b strings.Builder
	before := rune('A')
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
