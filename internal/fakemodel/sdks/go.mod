module github.com/wrun-dev/wrun/internal/fakemodel/sdks

go 1.26.0

replace github.com/wrun-dev/wrun => ../../..

require (
	github.com/anthropics/anthropic-sdk-go v1.0.0
	github.com/openai/openai-go/v3 v3.0.0
	github.com/wrun-dev/wrun v0.0.0
)

require (
	github.com/fxamacker/cbor/v2 v2.10.0 // indirect
	github.com/itchyny/gojq v0.12.20 // indirect
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)
