package main

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"

	"filebus/cmd/filebus/cli"
)

type buildJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func runVersion(_ context.Context, w *cli.Work, _ []string) error {
	v := versionView()
	text := "filebus " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return w.Print(v, "%s %s %s\n", text, v.Go, v.Platform)
}

// versionView reads what the Go tool has written into the binary.
func versionView() buildJSON {
	v := buildJSON{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
